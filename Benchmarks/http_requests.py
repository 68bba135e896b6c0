"""Requests per second and what one costs, beside peers that answer with the same bytes."""

import json
import os
import pathlib
import sqlite3
import statistics
import time

import harness
from harness import Aria2, Nginx, Node, Pawl, interleaved, print_rates


def healthz(executable):
    """nginx answers with a body of the same size; Node is there for orientation."""
    with harness.Scratch() as directory:
        pawl = harness.started(Pawl(executable, directory))
        body = pawl.get("/healthz").decode()
        nginx = harness.started(Nginx(directory, {"/healthz": body}))
        node = harness.started(Node(directory, body))
        results = interleaved({
            "pawl": lambda: harness.wrk(pawl.base + "/healthz", pawl),
            "nginx": lambda: harness.wrk(nginx.base + "/healthz", nginx),
            "node": lambda: harness.wrk(node.base + "/healthz", node)})
    print_rates("GET /healthz", results, f"{len(body)} bytes; wanted: 1.0 x requests, 1.1 x CPU, 1.5 x p99 of nginx")


def download(executable):
    """The live resource, beside nginx with the same bytes and beside aria2's answer to the same question."""
    with harness.Scratch() as directory:
        pawl = harness.started(Pawl(executable, directory))
        origin = harness.started(Nginx(harness.subdirectory(directory, "origin")))
        made = finished(pawl, origin, directory, 16384)
        path = f"/downloads/{made}"
        body = pawl.get(path).decode()
        nginx = harness.started(Nginx(directory, {path: body}))
        aria2 = harness.started(Aria2(directory, origin.base + "/finished.bin"))
        results = interleaved({
            "pawl": lambda: harness.wrk(pawl.base + path, pawl),
            "nginx": lambda: harness.wrk(nginx.base + path, nginx),
            "aria2": lambda: harness.wrk(aria2.base + "/jsonrpc", aria2, script=aria2.script)})
    print_rates("GET /downloads/{id}", results, f"{len(body)} bytes; wanted: 0.9 x requests of nginx, 3 x of aria2's tellStatus")


def close(executable):
    with harness.Scratch() as directory:
        pawl = harness.started(Pawl(executable, directory))
        nginx = harness.started(Nginx(directory, {"/healthz": pawl.get("/healthz").decode()}))
        flags = ["-H", "Connection: close"]
        results = interleaved({
            "pawl": lambda: harness.wrk(pawl.base + "/healthz", pawl, flags=flags),
            "nginx": lambda: harness.wrk(nginx.base + "/healthz", nginx, flags=flags)})
    print_rates("Connection: close, GET /healthz", results, "wanted: 0.8 x requests of nginx")


def small_file(executable):
    with harness.Scratch() as directory:
        pawl = harness.started(Pawl(executable, directory))
        origin = harness.started(Nginx(harness.subdirectory(directory, "origin")))
        made = finished(pawl, origin, directory, 16384)
        results = interleaved({
            "pawl": lambda: harness.wrk(f"{pawl.base}/downloads/{made}/file", pawl),
            "nginx": lambda: harness.wrk(origin.base + "/finished.bin", origin)})
    print_rates("a finished file of 16 KiB", results, "wanted: 0.8 x requests of nginx with sendfile")


def listing(executable):
    with harness.Scratch() as directory:
        pawl = harness.started(Pawl(executable, directory))
        for number in range(100):
            pawl.post("/downloads", {"url": f"http://127.0.0.1:9/recordings/{number}/field-recording.bin", "paused": True})
        path = "/downloads?limit=100"
        body = pawl.get(path)
        # A file, for nginx takes no `return` of that size.
        pathlib.Path(directory, "list.json").write_bytes(body)
        nginx = harness.started(Nginx(directory))
        results = interleaved({
            "pawl": lambda: harness.wrk(pawl.base + path, pawl),
            "nginx": lambda: harness.wrk(nginx.base + "/list.json", nginx)})
    print_rates("GET /downloads?limit=100", results, f"{len(body)} bytes, nginx sends a file; wanted: 300 MB/s")
    for name, rounds in results.items():
        rate = statistics.median(sample.rate for sample in rounds)
        print(f"  {name:6} {rate * len(body) / 1e6:9,.0f} MB/s of JSON")


def large_file(executable):
    """1 GiB, once through to warm the page cache, then interleaved. Both send the very same file: how large the pieces are that the kernel
    keeps it in, which depends on how it was written, is a third of what sending costs."""
    with harness.Scratch() as directory:
        pawl = harness.started(Pawl(executable, directory))
        origin = harness.started(Nginx(harness.subdirectory(directory, "origin")))
        made = finished(pawl, origin, directory, 1 << 30)
        os.link(os.path.join(directory, "data", "files", "finished.bin"), os.path.join(directory, "origin", "same.bin"))
        places = {"pawl": (f"{pawl.base}/downloads/{made}/file", pawl), "nginx": (origin.base + "/same.bin", origin)}
        results = {name: [] for name in places}
        for turn in range(harness.ROUNDS + 1):
            for name, (url, server) in places.items():
                before = server.cpu()
                wall, _ = harness.timed(["curl", "-s", "-o", "/dev/null", url])
                if turn:
                    results[name].append(((1 << 30) / wall / 1e6, server.cpu() - before))
    print("a finished file of 1 GiB, curl to /dev/null (wanted: 0.95 x throughput at 1.1 x CPU seconds of nginx)")
    best = {name: harness.medians(rounds) for name, rounds in results.items()}
    for name, (rate, spent) in best.items():
        print(f"  {name:6} {rate:7,.0f} MB/s {spent:5.2f} s CPU   pawl is {best['pawl'][0] / rate:.2f} x throughput,"
              f" {best['pawl'][1] / max(spent, 0.005):.2f} x CPU")


def durable(executable):
    """Each request adds another URL, paused, so that nothing but accepting is measured; each 201 is on disk.

    The peer is SQLite itself, with the same durability, which gets 64 rows at a time as 64 connections could give it: on the machine
    that the wanted figure was set on, 40,000 rows a second.
    """
    with harness.Scratch() as directory:
        script = os.path.join(directory, "post.lua")
        pathlib.Path(script).write_text("""
            local number = 0
            local fields = {["Content-Type"] = "application/json"}
            request = function()
                number = number + 1
                local body = string.format('{"url":"http://127.0.0.1:9/%d/%d.bin","paused":true}', START, number)
                return wrk.format("POST", "/downloads", fields, body)
            end
            """)
        text = pathlib.Path(script).read_text()
        pawl = harness.started(Pawl(executable, directory))
        results, alone = [], []
        for turn in range(harness.ROUNDS):
            pathlib.Path(script).write_text(f"START = {turn}\n" + text)
            results.append(harness.wrk(pawl.base + "/downloads", pawl, script=script))
            alone.append(rows_per_second(os.path.join(directory, f"alone-{turn}.sqlite")))
        stored = json.loads(pawl.get("/stats"))["downloads"]["paused"]
    print_rates("durable POST /downloads", {"pawl": results}, f"{stored} records made; wanted: 15,000/s")
    rate, rows = statistics.median(sample.rate for sample in results), statistics.median(alone)
    print(f"  SQLite alone, 64 rows a transaction: {rows:,.0f}/s; pawl is {rate / rows:.2f} x of that (wanted: 0.375)")


def rows_per_second(path):
    """The rows per second of SQLite alone, with 64 in each durable transaction."""
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode = WAL", "synchronous = FULL"):
        connection.execute("PRAGMA " + pragma)
    connection.execute("CREATE TABLE downloads (id TEXT PRIMARY KEY, url TEXT, record TEXT) WITHOUT ROWID")
    count, begun = 0, time.monotonic()
    while time.monotonic() - begun < harness.SECONDS:
        connection.execute("BEGIN")
        rows = [(f"{count + row:026}", f"http://127.0.0.1:9/{count + row}.bin", "x" * 300) for row in range(64)]
        connection.executemany("INSERT INTO downloads VALUES (?, ?, ?)", rows)
        connection.execute("COMMIT")
        count += 64
    connection.close()
    return count / (time.monotonic() - begun)


def finished(pawl, origin, directory, size):
    """Downloads a file of that size, and returns the download's id."""
    with open(os.path.join(directory, "origin", "finished.bin"), "wb") as file:
        for start in range(0, size, 1 << 20):
            file.write(os.urandom(min(1 << 20, size - start)))
    made = pawl.post("/downloads", {"url": origin.base + "/finished.bin"})
    done = pawl.wait_for(made["id"], "completed", "failed")
    if done["state"] != "completed":
        raise SystemExit(f"the download failed: {done['error']}")
    return made["id"]
