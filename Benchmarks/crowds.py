"""Many downloads at once, and many records of downloads that are over."""

import http.client
import json
import os
import socket
import sqlite3
import statistics
import subprocess
import sys
import time

import harness
from endurance import allow_descriptors
from harness import Nginx, Pawl, ROUNDS, medians

PAWL = "pawl (hashed, synced, published)"


def small_files(executable, parent=None, place="disk", count=5_000, size=16 << 10):
    """Thousands of small files, posted in batches."""
    with harness.Scratch(parent) as directory:
        source = harness.subdirectory(directory, "source")
        for number in range(count):
            with open(os.path.join(source, f"{number}.bin"), "wb") as file:
                file.write(os.urandom(size))
        origin = harness.started(Nginx(directory))
        urls = [f"{origin.base}/source/{number}.bin" for number in range(count)]
        links, curls = os.path.join(directory, "links"), os.path.join(directory, "curls")
        with open(links, "w", encoding="ascii") as file:
            file.write("\n".join(urls))

        def curl(out, *after):
            with open(curls, "w", encoding="ascii") as file:
                for number, url in enumerate(urls):
                    file.write(f'url = "{url}"\noutput = "{out}/{number}.bin"\n')
            return harness.timed(["curl", "-s", "--parallel", "--parallel-max", "64", "-K", curls], *after)

        contestants = {
            "aria2c -j64": lambda out: harness.timed(["aria2c", "-q", "-j64", "-d", out, "-i", links]),
            "curl --parallel --parallel-max 64": curl,
            "the same curl, then syncfs": lambda out: curl(out, ["sync", "-f", out]),
            "cp -r": lambda out: harness.timed(["cp", "-r", source, os.path.join(out, "copy")]),
            PAWL: lambda out: batches(executable, out, urls, size)[0],
        }
        results = {name: [] for name in contestants}
        for turn in range(ROUNDS + 1):
            for number, (name, measure) in enumerate(contestants.items()):
                # Nothing is deleted before the end: ext4 is slow to give out inodes beside many that were deleted lately.
                out = harness.subdirectory(directory, f"out-{turn}-{number}")
                os.sync()
                pair = measure(out)
                if turn:
                    results[name].append(pair)
        print(f"small: {count} files of {size >> 10} KiB on {place}, medians of {ROUNDS} rounds"
              " (wanted: 2.0 x curl's CPU and 1.2 x its wall, on disk 1.0 x with syncfs)")
        best = {name: medians(pairs) for name, pairs in results.items()}
        wall, cpu = best[PAWL]
        for name, (seconds, spent) in best.items():
            compared = "" if name == PAWL else f"   pawl is {wall / seconds:.2f} x wall, {cpu / spent:.2f} x CPU"
            print(f"  {name:36} {seconds:5.2f} s wall {spent:5.2f} s CPU{compared}", flush=True)


def batches(executable, home, urls, size, turns=1):
    """Posts all, a thousand at a time, and waits until all have completed; in a service of its own. Returns wall and CPU of each turn."""
    pawl = Pawl(executable, home, "--max-concurrent", "64", "--max-per-host", "64")
    try:
        pawl.get("/healthz")
        pairs = []
        for turn in range(turns):
            before, start = pawl.cpu(), time.monotonic()
            for first in range(0, len(urls), 1_000):
                made = pawl.post("/downloads/batch", {"downloads": [{"url": f"{url}?{turn}"} for url in urls[first:first + 1_000]]})
                if any(item["status"] != 201 for item in made["items"]):
                    raise SystemExit("a download of a batch was refused")
            while (states := json.loads(pawl.get("/stats"))["downloads"])["completed"] < (turn + 1) * len(urls):
                if states["failed"]:
                    raise SystemExit("a download failed")
                time.sleep(0.005)
            pairs.append((time.monotonic() - start, pawl.cpu() - before))
            # An origin is trusted to send nothing unasked after 0.25 s of silence.
            time.sleep(0.5)
    finally:
        pawl.stop()
    files = os.path.join(home, "data", "files")
    if len(os.listdir(files)) != turns * len(urls) or any(entry.stat().st_size != size for entry in os.scandir(files)):
        raise SystemExit("not all files are there")
    return pairs


def slow_crowd(executable, count=1_000):
    """Many transfers that come very slowly, and what they cost others."""
    allow_descriptors()
    with harness.Scratch() as directory:
        with open(os.path.join(directory, "paced.bin"), "wb") as file:
            file.truncate(4 << 20)
        origin = harness.started(Nginx(directory, paced="4k"))
        pawl = harness.started(Pawl(
            executable, directory, "--max-concurrent", str(count), "--max-per-host", str(count)))
        pawl.get("/healthz")
        idle, _ = pawl.resident()
        made = pawl.post("/downloads/batch", {"downloads": [{"url": f"{origin.base}/slow/paced.bin?{n}"} for n in range(count)]})
        one = made["items"][count // 2]["download"]["id"]
        while json.loads(pawl.get("/stats"))["downloads"]["downloading"] < count:
            time.sleep(0.05)
        time.sleep(5)
        before, begun = pawl.cpu(), time.monotonic()
        time.sleep(10)
        share = (pawl.cpu() - before) / (time.monotonic() - begun)
        resident, own = pawl.resident()
        waits = answer_times(pawl, [f"/downloads/{one}", "/stats", "/downloads?limit=50"], 300)
        with open(os.path.join(directory, "small.bin"), "wb") as file:
            file.truncate(1000)
        posts = [timed_call(lambda n=n: pawl.post("/downloads", {"url": f"{origin.base}/small.bin?{n}"})) for n in range(200)]
        after, _ = pawl.resident()
    print(f"crowd: {count} transfers at 4 KiB/s (wanted: 200 MiB, 25 % of one core, answers within 50 ms at the 99th percentile)")
    print(f"  {max(resident, after):.1f} MiB resident ({own:.1f} anonymous), {idle:.1f} before; {share * 100:.0f} % of one core")
    for name, times in {**waits, "POST /downloads": posts}.items():
        print(f"  {name.replace(one, '{id}'):24} p50 {median_ms(times):6.2f} ms   p99 {p99_ms(times):6.2f} ms")


def records(executable):
    """Services with more and more records: what a start, an ended record and each operation cost, and how long the event loop
    stops for it. Costs that grow faster than the records show as a ratio above 10 between two columns."""
    sizes = [int(size) for size in os.environ.get("BENCH_RECORDS", "10000 100000 1000000").split()]
    columns = {size: kept(executable, size) for size in sizes}
    print("records: so many ended ones, and a tenth as many queued ones"
          " (wanted at 1,000,000: 1,024 MiB, no operation above 1 s but the start, no stall of the event loop above 5 ms)")
    print("  requests: ms of wall time / ms of CPU / the longest wait of another connection meanwhile, in ms")
    print(f"  {'':44}" + "".join(f"{size:>26,}" for size in sizes))
    for name in columns[sizes[0]]:
        print(f"  {name:44}" + "".join(f"{columns[size][name]:>26}" for size in sizes), flush=True)


def kept(executable, count):
    """The figures of one number of records."""
    figures = {}
    with harness.Scratch() as directory:
        with open(os.path.join(directory, "paced.bin"), "wb") as file:
            file.truncate(4 << 20)
        origin = harness.started(Nginx(directory, paced="1k"))
        for state in ENDED:
            figures[f"KiB for each that is {state}"] = f"{ended_size(executable, directory, state, min(count, 100_000)):.2f}"
        home = harness.subdirectory(directory, "home")
        Pawl(executable, home).stop()
        parts = {"completed": count * 7 // 10, "failed": count * 2 // 10, "cancelled": count // 10, "queued": count // 10}
        fill(os.path.join(home, "data", "pawl.sqlite"), origin.base + "/slow/paced.bin", parts)
        begun = time.monotonic()
        pawl = harness.started(Pawl(executable, home))
        pawl.get("/readyz")
        figures["start"] = f"{time.monotonic() - begun:.2f} s, {pawl.cpu():.2f} s CPU"
        time.sleep(1)
        figures["resident"] = f"{pawl.resident()[0]:.0f} MiB"
        with Poller(pawl) as poller:
            for name, operate in operations(pawl, origin.base, count).items():
                poller.longest()
                before, begun = pawl.cpu(), time.monotonic()
                operate()
                took = (time.monotonic() - begun) * 1000
                figures[name] = f"{took:,.1f} / {(pawl.cpu() - before) * 1000:,.0f} / {poller.longest():.1f}"
        figures["resident afterwards"] = f"{pawl.resident()[0]:.0f} MiB"
    return figures


ENDED = ("completed", "failed", "cancelled")


def ended_size(executable, directory, state, count):
    """KiB that each ended record costs in memory."""
    sizes = []
    home = harness.subdirectory(directory, state)
    Pawl(executable, home).stop()
    for number in (0, count):
        fill(os.path.join(home, "data", "pawl.sqlite"), "http://127.0.0.1:9/", {state: number})
        pawl = Pawl(executable, home)
        pawl.get("/readyz")
        time.sleep(1)
        sizes.append(pawl.resident()[1])
        pawl.stop()
    harness.discard(home)
    return (sizes[1] - sizes[0]) * 1024 / count


def operations(pawl, origin, count):
    """Requests by name, in an order in which each finds what it needs."""
    connection = http.client.HTTPConnection(*pawl.address, timeout=600)

    def request(method, path, body=None):
        connection.request(method, path, body and json.dumps(body), {"Content-Type": "application/json"} if body else {})
        answer = connection.getresponse()
        content = answer.read()
        if answer.status >= 300:
            raise SystemExit(f"{method} {path}: {answer.status} {content[:200]}")
        return json.loads(content) if content else None

    def events(after=None):
        """Reads the first event."""
        with socket.create_connection(pawl.address, 60) as client:
            resumed = f"Last-Event-ID: {after}\r\n" if after else ""
            client.sendall(f"GET /downloads/events HTTP/1.1\r\nHost: 127.0.0.1\r\n{resumed}\r\n".encode())
            head, received = b"", b"\0"
            while b"\r\n\r\n" not in head and received:
                received = client.recv(4096)
                head += received
            text = head.partition(b"\r\n\r\n")[2]
            while b"\n\n" not in text and received:
                received = client.recv(1 << 20)
                text = text[-1:] + received
            if not received:
                raise SystemExit("the events ended")

    lists = ["/downloads?limit=200", "/downloads?limit=200&order=oldest", "/downloads?state=failed&state=cancelled",
             "/downloads?state=queued", "/downloads?q=file-0000", "/downloads?q=nothing-like-it", "/downloads?label=tenth",
             "/downloads?label=tenth&state=failed", "/downloads?folder=", "/downloads?folder=&state=completed&q=file"]
    first = request("GET", "/downloads?limit=1")
    last = request("GET", "/downloads?limit=2&order=oldest")
    cursor = last["items"][1]["id"]
    made = {}

    def add():
        made.update(request("POST", "/downloads", {"url": f"{origin}/slow/paced.bin?new", "paused": True}))
    return {
        "GET /healthz": lambda: request("GET", "/healthz"),
        "GET /stats": lambda: request("GET", "/stats"),
        "GET /metrics": lambda: connection.request("GET", "/metrics") or connection.getresponse().read(),
        "GET /downloads/{id}": lambda: request("GET", f"/downloads/{first['items'][0]['id']}"),
        **{f"GET {path}": (lambda path=path: request("GET", path)) for path in lists},
        "GET /downloads, last page": lambda: request("GET", f"/downloads?cursor={cursor}"),
        "aria2.tellStopped": lambda: request("POST", "/jsonrpc", {"jsonrpc": "2.0", "id": 1, "method": "aria2.tellStopped",
                                                                "params": [0, 100]}),
        "aria2.tellWaiting": lambda: request("POST", "/jsonrpc", {"jsonrpc": "2.0", "id": 1, "method": "aria2.tellWaiting",
                                                                "params": [0, 100]}),
        "events: snapshot": events,
        "events: all after an old id": lambda: events("1-1"),
        "POST /downloads": add,
        "POST /downloads/{id}/cancel": lambda: request("POST", f"/downloads/{made['id']}/cancel"),
        "DELETE /downloads/{id}": lambda: request("DELETE", f"/downloads/{made['id']}"),
        "POST /downloads/pause?label=tenth": lambda: request("POST", "/downloads/pause?label=tenth"),
        "POST /downloads/pause": lambda: request("POST", "/downloads/pause"),
        "POST /downloads/resume?state=paused": lambda: request("POST", "/downloads/resume?state=paused"),
        "POST /downloads/cancel?state=queued": lambda: request("POST", "/downloads/cancel?state=queued"),
        "DELETE /downloads?state=cancelled&before=": lambda: request(
            "DELETE", f"/downloads?state=cancelled&before={time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(time.time() + 60))}"),
        "DELETE /downloads?state=failed&label=tenth": lambda: request("DELETE", "/downloads?state=failed&label=tenth"),
    }


class Poller:
    """A process that asks for /healthz all the time, so that it notices when the event loop does not respond."""

    PROGRAM = """
import socket, sys, time, threading
client = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
longest = 0
def poll():
    global longest
    while True:
        begun = time.monotonic()
        client.sendall(b"GET /healthz HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n\\r\\n")
        if not client.recv(65536): return
        longest = max(longest, time.monotonic() - begun)
        time.sleep(0.001)
threading.Thread(target=poll, daemon=True).start()
for line in sys.stdin:
    print(longest * 1000, flush=True)
    longest = 0
"""

    def __init__(self, pawl):
        self.child = subprocess.Popen([sys.executable, "-c", self.PROGRAM, str(pawl.address[1])],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.stdin.close()
        self.child.wait()

    def longest(self):
        """The longest wait for a response since the last call, in milliseconds."""
        self.child.stdin.write("\n")
        self.child.stdin.flush()
        return float(self.child.stdout.readline())


def fill(database, url, parts):
    """Writes records as the service itself would have: so many in each state."""
    connection = sqlite3.connect(database)
    now = int(time.time() * 1000)
    total = sum(parts.values())
    columns = ("id", "url", "state", "filename", "media_type", "bytes_received", "bytes_total", "resumable", "file_missing",
               "segments", "attempts", "error_code", "error_message", "error_retryable", "error_status", "sha256", "priority",
               "labels", "speed_limit", "created_at", "started_at", "updated_at", "ended_at", "revision", "entity_known",
               "file_identity", "event_epoch", "event_sequence")

    def rows():
        order = ((state, number) for state, count in parts.items() for number in range(count))
        for index, (state, number) in enumerate(order):
            identity = ulid(now - (total - index) * 10, index)
            link = f"https://downloads.example.org/archive/file-{index:08}.bin"
            name = f"file-{index:08}.bin"
            # Every tenth one has a label.
            labels = None if index % 10 else '["tenth"]'
            if state == "completed":
                yield (identity, link, state, name, "application/octet-stream", 1 << 20, 1 << 20, 1, 0, 1, 1, None, None, None, None,
                       index.to_bytes(32, "big"), 0, labels, 0, now, now, now, now, 3, 0, f"65025:{index}:{1 << 20}:{now * 1000000}",
                       0, 0)
            elif state == "failed":
                yield (identity, link, state, name, None, 0, None, None, 0, 1, 1, "http-status", "the origin responded with 404 Not Found",
                       0, 404, None, 0, labels, 0, now, now, now, now, 3, 0, None, 0, 0)
            else:
                live = state == "queued"
                yield (identity, f"{url}?{index}" if live else link, state, None, None, 0, None, None, 0, 0, 0, None, None, None, None,
                       None, 0, labels, 0, now, None, now, None if live else now, 1 if live else 2, 0, None, 0, 0)

    # `compare` may measure a build from before the first release, which names two columns otherwise.
    present = {row[1] for row in connection.execute("PRAGMA table_info(downloads)")}
    renamed = {"segments": "connections", "ended_at": "completed_at"}
    columns = [name if name in present else renamed[name] for name in columns]
    with connection:
        connection.executemany(f"INSERT INTO downloads ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})", rows())
    connection.close()


def ulid(milliseconds, number):
    value = milliseconds << 80 | number
    return "".join("0123456789ABCDEFGHJKMNPQRSTVWXYZ"[value >> shift & 31] for shift in range(125, -1, -5))


def answer_times(pawl, paths, count):
    """Seconds that each path's answers take, the paths taking turns."""
    times = {path: [] for path in paths}
    for _ in range(count):
        for path in paths:
            times[path].append(timed_call(lambda: pawl.get(path)))
    return times


def timed_call(call):
    start = time.monotonic()
    call()
    return time.monotonic() - start


def median_ms(times):
    return statistics.median(times) * 1000


def p99_ms(times):
    return sorted(times)[len(times) * 99 // 100] * 1000
