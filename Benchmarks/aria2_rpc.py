"""The same calls of aria2's JSON-RPC to Pawl and to aria2c, interleaved: statuses, lists, adding, and who listens."""

import base64
import json
import os
import pathlib
import socket
import statistics
import subprocess
import threading
import time
import urllib.request

import harness
from harness import Pawl, Process, interleaved, print_rates

WAITING = 1_000


class Plain(Process):
    """aria2c without downloads."""

    def __init__(self, directory, *flags):
        self.port = harness.free_port()
        super().__init__(["aria2c", "--enable-rpc", f"--rpc-listen-port={self.port}", "--quiet", "--no-conf", "--rpc-max-request-size=16M",
                          "-d", harness.subdirectory(directory, "aria2"), *flags], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.base = f"http://127.0.0.1:{self.port}"
        harness.wait_for_port(self.port)


def call(server, method, *parameters):
    body = json.dumps({"jsonrpc": "2.0", "id": "1", "method": method, "params": list(parameters)}).encode()
    with urllib.request.urlopen(urllib.request.Request(server.base + "/jsonrpc", data=body), timeout=120) as answer:
        return json.load(answer)["result"]


def script(directory, name, method, *parameters):
    """A file that has wrk send that call."""
    path = os.path.join(directory, name + ".lua")
    body = json.dumps({"jsonrpc": "2.0", "id": "1", "method": method, "params": list(parameters)})
    pathlib.Path(path).write_text(f'wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\nwrk.body = {body!r}\n')
    return path


def additions(first, count):
    return [{"methodName": "aria2.addUri", "params": [[f"http://127.0.0.1:9/{number}"], {"pause": "true"}]}
            for number in range(first, first + count)]


def rpc(executable):
    with harness.Scratch() as directory:
        servers = {"pawl": harness.started(Pawl(executable, directory)), "aria2": harness.started(Plain(directory))}
        scripts = {}
        for name, server in servers.items():
            gids = call(server, "system.multicall", additions(0, WAITING))
            scripts[name] = script(directory, f"status-{name}", "aria2.tellStatus", gids[0][0])
        print_rates("aria2.tellStatus", interleaved({
            name: lambda name=name, server=server: harness.wrk(server.base + "/jsonrpc", server, script=scripts[name])
            for name, server in servers.items()}), "wanted: 4 x requests of aria2c")
        calls = [{"methodName": "aria2.tellActive"}, {"methodName": "aria2.tellWaiting", "params": [0, WAITING]},
                 {"methodName": "aria2.tellStopped", "params": [-1, WAITING]}]
        lists = script(directory, "lists", "system.multicall", calls)
        print_rates(f"system.multicall of three lists, {WAITING:,} downloads", interleaved({
            name: lambda server=server: harness.wrk(server.base + "/jsonrpc", server, script=lists, connections=8)
            for name, server in servers.items()}), "wanted: 4 x requests of aria2c")
        add_many(servers, directory)
        listen(servers["pawl"])


def add_many(servers, directory, count=1_000):
    """Adding in one multicall, and one by one over 32 connections."""
    def together(server):
        begun = time.monotonic()
        call(server, "system.multicall", additions(0, count))
        return count / (time.monotonic() - begun)

    path = script(directory, "add", "aria2.addUri", ["http://127.0.0.1:9/x"], {"pause": "true"})

    def singly(server):
        return harness.wrk(server.base + "/jsonrpc", server, script=path, connections=32).rate

    for title, measure in [(f"{count:,} aria2.addUri in one multicall", together), ("aria2.addUri over 32 connections", singly)]:
        rates = {name: [] for name in servers}
        for _ in range(harness.ROUNDS):
            for name, server in servers.items():
                rates[name].append(measure(server))
        own, peer = (statistics.median(rates[name]) for name in ("pawl", "aria2"))
        print(f"{title} (Pawl's are durable, aria2c's are not; wanted: 2 x)")
        print(f"  pawl {own:9,.0f}/s   aria2 {peer:9,.0f}/s   pawl is {own / peer:.2f} x")


def listen(pawl, count=200, deaf=20):
    """How late the last of many listeners hears of what happened, beside some that never read."""
    def connect():
        client = socket.create_connection(pawl.address, 10)
        key = base64.b64encode(os.urandom(16)).decode()
        client.sendall(f"GET /jsonrpc HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
        while b"\r\n\r\n" not in client.recv(4096):
            pass
        return client

    clients = [connect() for _ in range(count)]
    unheard = [connect() for _ in range(deaf)]
    before, _ = pawl.resident()
    heard = [threading.Event() for _ in clients]
    times = [0.0] * count

    def read(number):
        text = b""
        while True:
            try:
                piece = clients[number].recv(65536)
            except OSError:
                return
            if not piece:
                return
            text = (text + piece)[-200:]
            if b"onDownloadError" in text:
                times[number] = time.monotonic()
                text = b""
                heard[number].set()

    for number in range(count):
        threading.Thread(target=read, args=(number,), daemon=True).start()
    delays = []
    for turn in range(20):
        for event in heard:
            event.clear()
        gid = call(pawl, "aria2.addUri", [pawl.base + f"/nothing-{turn}"])
        while call(pawl, "aria2.tellStatus", gid, ["status"])["status"] != "error":
            pass
        at = time.monotonic()
        for event in heard:
            if not event.wait(5):
                raise SystemExit("a listener heard nothing for 5 s")
        delays.append(max(times) - at)
    after, _ = pawl.resident()
    for client in clients + unheard:
        client.close()
    print(f"{count} listeners, and {deaf} that never read (wanted: each event within 100 ms)")
    print(f"  the last hears {max(delays) * 1000:.1f} ms after the status tells it at worst, {statistics.median(delays) * 1000:.1f} ms usually;"
          f" {after:.1f} MiB resident, {before:.1f} before")
