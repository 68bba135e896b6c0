"""The costs of many subscriptions, with a ceiling for each."""

import http.client
import json
import os
import selectors
import socket
import threading
import time
import xml.sax.saxutils

import harness
from endurance import open_descriptors, wait_until
from harness import Nginx, Pawl
from soaking import DESCRIPTOR_MARGIN, Soak

ITEMS = 20
READERS = 100
# MiB. Pools grow by about 20 MiB in the first 60,000 checks, and then no more.
MEMORY_MARGIN = 16
# Twice the costs here in a quiet moment. An event costs each reader one send, for any number of subscriptions.
CEILINGS = {
    "import, ms CPU each": 0.5,
    "a check with a new item and its refused download, ms CPU": 6,
    "a check of a feed without a new item, ms CPU": 2,
    "a check with 100 readers of events, more us CPU for each reader": 25,
    "a page of 50, ms CPU": 1,
    "a start, s CPU": 2,
}


def feed(number, items):
    entries = "".join(
        f"<item><guid>{number}-{item}</guid><title>Episode {item} of show {number}</title>"
        f"<pubDate>Mon, 02 Nov 2026 {item % 24:02}:00:00 GMT</pubDate>"
        f'<enclosure url="http://127.0.0.1:9/{number}/{item}.mp3" type="audio/mpeg" length="1000"/></item>'
        for item in reversed(range(items)))
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>Show {number}</title>{entries}</channel></rss>'


def soak(executable, minutes=float(os.environ.get("BENCH_MINUTES", "5"))):
    """A mixed load: memory and descriptors are the same at its end as in its second quarter."""
    if Soak(executable, minutes * 60, rate=100, seed=1).run():
        raise SystemExit("the soak does not hold")


def subscriptions(executable, count=10_000):
    """Import, checks, events, pages and a start, with as many subscriptions as there may be."""
    costs = {}
    with harness.Scratch() as directory:
        def write(number, items):
            with open(os.path.join(directory, f"{number}.xml"), "w") as file:
                file.write(feed(number, items))

        for number in range(count):
            write(number, ITEMS)
        origin = harness.started(Nginx(directory))
        pawl = harness.started(Pawl(executable, directory))
        at = time.monotonic()

        def measured(name, times, unit, act):
            before = pawl.cpu()
            act()
            costs[name] = costs.get(name, 0) + (pawl.cpu() - before) * unit / times

        def import_all():
            for first in range(0, count, 2_000):
                outlines = "".join(f'<outline type="rss" text="Show {number}" xmlUrl={xml.sax.saxutils.quoteattr(url)}/>'
                                   for number in range(first, min(first + 2_000, count))
                                   for url in [f"{origin.base}/{number}.xml"])
                connection = http.client.HTTPConnection(*pawl.address, timeout=60)
                connection.request("POST", "/subscriptions/import", f"<opml version='2.0'><body>{outlines}</body></opml>",
                                   {"Content-Type": "text/x-opml"})
                results = json.load(connection.getresponse())["items"]
                if any(result["status"] != 201 for result in results):
                    raise SystemExit("an outline was not imported")
                connection.close()

        measured("import, ms CPU each", count, 1000, import_all)
        ids, cursor = [], ""
        while cursor is not None:
            page = json.loads(pawl.get("/subscriptions?limit=200" + (f"&cursor={cursor}" if cursor else "")))
            ids += [item["id"] for item in page["items"]]
            cursor = page.get("nextCursor")
        if len(ids) != count:
            raise SystemExit(f"{len(ids)} of {count} subscriptions are listed")

        def check(chosen):
            """Refreshes them, by several connections at a time: one host's feeds are checked one by one."""
            wanted, failed = iter(chosen), []

            def client():
                connection = http.client.HTTPConnection(*pawl.address, timeout=60)
                for id in wanted_ids():
                    connection.request("POST", f"/subscriptions/{id}/refresh")
                    answer = connection.getresponse()
                    if json.load(answer).get("failures") != 0:
                        failed.append(id)

            def wanted_ids():
                while True:
                    with lock:
                        id = next(wanted, None)
                    if id is None:
                        return
                    yield id

            lock = threading.Lock()
            clients = [threading.Thread(target=client) for _ in range(4)]
            for each in clients:
                each.start()
            for each in clients:
                each.join()
            if failed:
                raise SystemExit(f"{len(failed)} checks failed")

        some = ids[::max(1, count // 1_000)]
        check(ids)
        for number in range(count):
            write(number, ITEMS + 1)
        measured("a check with a new item and its refused download, ms CPU", count, 1000, lambda: check(ids))
        begun = {"memory": pawl.resident()[1], "descriptors": open_descriptors(pawl)}
        measured("a check of a feed without a new item, ms CPU", count, 1000, lambda: check(ids))

        before = pawl.cpu()
        check(some)
        alone = pawl.cpu() - before
        readers = [socket.create_connection(pawl.address, 10) for _ in range(READERS)]
        isOver = threading.Event()
        for reader in readers:
            reader.sendall(b"GET /subscriptions/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        thread = threading.Thread(target=drain, args=(readers, isOver))
        thread.start()
        time.sleep(3)  # The snapshots.
        before = pawl.cpu()
        check(some)
        costs["a check with 100 readers of events, more us CPU for each reader"] = (
            (pawl.cpu() - before - alone) * 1e6 / len(some) / READERS)
        isOver.set()
        thread.join()
        for reader in readers:
            reader.close()

        def pages():
            connection, path = http.client.HTTPConnection(*pawl.address, timeout=60), "/subscriptions?limit=50"
            while path:
                connection.request("GET", path)
                cursor = json.load(connection.getresponse()).get("nextCursor")
                path = cursor and f"/subscriptions?limit=50&cursor={cursor}"
            connection.close()

        measured("a page of 50, ms CPU", count / 50, 1000, pages)
        wait_until(lambda: open_descriptors(pawl) <= begun["descriptors"] + DESCRIPTOR_MARGIN, 30, "descriptors to come back")
        ended = {"memory": pawl.resident()[1], "descriptors": open_descriptors(pawl)}
        pawl.stop()
        pawl = harness.started(Pawl(executable, directory))
        pawl.get("/subscriptions?limit=1")
        costs["a start, s CPU"] = pawl.cpu()
    print(f"{count} subscriptions with {ITEMS} items each, in {time.monotonic() - at:.0f} s")
    for name, cost in costs.items():
        print(f"  {name:64} {cost:6.2f} (ceiling {CEILINGS[name]})")
    print(f"  MiB that no file backs: {begun['memory']:.1f} with all downloads, {ended['memory']:.1f} at the end;"
          f" descriptors: {begun['descriptors']}, {ended['descriptors']}")
    broken = [name for name, cost in costs.items() if cost > CEILINGS[name]]
    if ended["memory"] > begun["memory"] + MEMORY_MARGIN:
        broken.append("memory")
    if broken:
        raise SystemExit("above the ceiling: " + ", ".join(broken))


def drain(readers, isOver):
    """Reads the events of all readers."""
    selector = selectors.DefaultSelector()
    for reader in readers:
        selector.register(reader, selectors.EVENT_READ)
    while not isOver.is_set():
        for key, _ in selector.select(0.2):
            key.fileobj.recv(1 << 18)
