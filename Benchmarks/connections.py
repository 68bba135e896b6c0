"""Many clients that do little: the cost of their connections, and the delay of their events."""

import json
import os
import selectors
import socket
import statistics
import time

import harness
from endurance import allow_descriptors
from harness import Nginx, Pawl


def idle(executable, count=10_000):
    """Keep-alive connections that have had one answer each."""
    allow_descriptors()
    with harness.Scratch() as directory:
        pawl = harness.started(Pawl(executable, directory))
        pawl.get("/healthz")
        before, _ = pawl.resident()
        clients = []
        refused = 0
        for _ in range(count):
            client = socket.create_connection(pawl.address, 10)
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            refused += b" 200 " not in client.recv(4096)
            clients.append(client)
        started = pawl.cpu()
        time.sleep(5)
        spent = pawl.cpu() - started
        after, own = pawl.resident()
        for client in clients:
            client.close()
    print(f"{count} idle keep-alive connections (wanted: 60 MiB, no CPU)")
    print(f"  {after:5.1f} MiB resident ({own:.1f} anonymous), {before:.1f} before; {spent / 5 * 100:.1f} % of one core;"
          f" {refused} refused")


def events(executable, count=1_000):
    """Readers of one busy download's events: each should know its progress within a second."""
    allow_descriptors()
    with harness.Scratch() as directory:
        with open(os.path.join(directory, "paced.bin"), "wb") as file:
            file.truncate(256 << 20)
        origin = harness.started(Nginx(directory, paced="1m"))
        pawl = harness.started(Pawl(executable, directory))
        made = pawl.post("/downloads", {"url": origin.base + "/slow/paced.bin"})["id"]
        before, _ = pawl.resident()
        selector = selectors.DefaultSelector()
        told = [0] * count
        texts = [b""] * count
        for number in range(count):
            client = socket.create_connection(pawl.address, 10)
            client.sendall(f"GET /downloads/{made}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            client.setblocking(False)
            selector.register(client, selectors.EVENT_READ, number)

        def read_until(end):
            while (left := end - time.monotonic()) > 0:
                for key, _ in selector.select(left):
                    number = key.data
                    text = texts[number] + key.fileobj.recv(65536)
                    at = text.rfind(b'"bytesReceived":')
                    comma = text.find(b",", at)
                    if at >= 0 and comma > 0:
                        told[number] = max(told[number], int(text[at + 16:comma]))
                        text = text[comma:]
                    texts[number] = text[-4096:]

        read_until(time.monotonic() + 3)
        delays, started, begun = [], pawl.cpu(), time.monotonic()
        for _ in range(5):
            # The origin paces by sending now and then: what counts is the time from when something has come.
            known = before_news = json.loads(pawl.get(f"/downloads/{made}"))["bytesReceived"]
            while known == before_news:
                read_until(time.monotonic() + 0.01)
                known = json.loads(pawl.get(f"/downloads/{made}"))["bytesReceived"]
            asked = time.monotonic()
            while min(told) < known and time.monotonic() < asked + 10:
                read_until(time.monotonic() + 0.02)
            delays.append(time.monotonic() - asked)
            read_until(asked + 1)
        share = (pawl.cpu() - started) / (time.monotonic() - begun)
        after, own = pawl.resident()
    print(f"{count} event-stream readers of one busy download (wanted: all current within 1 s, memory bounded)")
    print(f"  the last of them knows after {max(delays):.2f} s at worst, {statistics.median(delays):.2f} s usually;"
          f" {share * 100:.0f} % of one core; {after:.1f} MiB resident ({own:.1f} anonymous), {before:.1f} before")


def start(executable):
    """From exec to the line on standard output, with an empty data directory; and memory when nothing goes on."""
    times, sizes = [], []
    for _ in range(harness.ROUNDS):
        with harness.Scratch() as directory:
            begun = time.monotonic()
            pawl = harness.started(Pawl(executable, directory))
            times.append(time.monotonic() - begun)
            pawl.get("/healthz")
            sizes.append(pawl.resident())
    resident, own = harness.medians(sizes)
    print("start (wanted: listening within 100 ms, idle in 25 MiB)")
    print(f"  listening after {statistics.median(times) * 1000:.0f} ms, {resident:.1f} MiB resident ({own:.1f} anonymous)")
