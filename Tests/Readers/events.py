"""All clients follow one service at once: a snapshot of more than 512 KiB, silence, transitions, and a restart."""
import json
import os
import subprocess
import sys
import threading
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Support"))
from service import Service, wait  # noqa: E402

# The clients, and whether they connect again.
CLIENTS = {
    "httpx_sse": False, "httpx_sse_async": False, "sseclient": True, "sseclient_py": False, "aiohttp_sse_client": True,
    "aiosseclient": False, "requests_lines": False, "urllib_lines": False,
}
# Some clients end lines at these.
HOSTILE = "U+0085 \u0085, U+2028 \u2028, U+2029 \u2029, a\u000bb\u000cc\u001cd, \U0001F600 \u00e2\u00c2"
# Silence is longer than the shortest time limit of a client, 5 s.
SILENCE = 9


class Reader:
    def __init__(self, name, url):
        self.name = name
        environment = os.environ["PAWL_READERS"] + ("-2" if name == "sseclient" else "-1")
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "client.py")
        self.child = subprocess.Popen([environment + "/bin/python", "-B", script, name, url], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True)
        self.events = []
        self.errors = []
        for stream, take in ((self.child.stdout, self.take), (self.child.stderr, self.errors.append)):
            threading.Thread(target=lambda stream=stream, take=take: [take(line) for line in stream], daemon=True).start()

    def take(self, line):
        # sseclient prints why a connection has ended.
        if line.startswith("{"):
            self.events.append(json.loads(line))

    def states(self, identity):
        """What the client knows of a download: the values of `state`, each once in a row."""
        states = []
        for event in self.events:
            items = event.get("value", [])
            for item in items if isinstance(items, list) else [items]:
                if item["id"] == identity:
                    state = item.get("state", "removed")
                    if states[-1:] != [state]:
                        states.append(state)
        return states

    def count(self, name):
        return sum(event["name"] == name for event in self.events)

    def describe(self):
        return f"{self.name}: {[event['name'] for event in self.events][-10:]} {''.join(self.errors)[-500:]}"

    def close(self):
        self.child.kill()
        self.child.wait()


def main():
    begun = time.monotonic()
    service = Service("--allow-private")
    readers = []

    def call(method, path, body=None):
        request = urllib.request.Request(service.url + path, method=method, data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"} if body is not None else {})
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.loads(response.read() or "null")

    def each(condition, what, limit=30, of=None):
        for reader in of or readers:
            wait(lambda reader=reader: condition(reader), lambda reader=reader: f"{what}: {reader.describe()}", limit)

    try:
        track = {"name": HOSTILE, "text": "x" * 1000}
        made = call("POST", "/downloads/batch", {"downloads": [
            {"url": f"http://127.0.0.1:9/{number}", "paused": True, "track": track} for number in range(400)]})
        known = [item["download"]["id"] for item in made["items"]]
        readers = [Reader(name, service.url + "/downloads/events") for name in CLIENTS]
        each(lambda reader: reader.events, "a snapshot")
        for reader in readers:
            snapshot = reader.events[0]
            assert snapshot["name"] == "snapshot" and snapshot["id"], reader.describe()
            assert sorted(item["id"] for item in snapshot["value"]) == sorted(known), reader.describe()
            assert all(item["track"] == track for item in snapshot["value"]), f"{reader.name}: {snapshot['value'][0]['track']}"
        time.sleep(SILENCE)
        for reader in readers:
            assert len(reader.events) == 1 and reader.child.poll() is None, f"after silence: {reader.describe()}"

        # Transitions: each has to arrive alone and in order.
        for identity in known[:20]:
            call("POST", f"/downloads/{identity}/cancel", {})
        call("DELETE", f"/downloads/{known[0]}")
        new = call("POST", "/downloads", {"url": "http://127.0.0.1:9/new", "paused": True, "track": {"name": HOSTILE, "text": "x" * 60_000}})
        each(lambda reader: reader.states(new["id"]) == ["paused"], "a long event")
        for reader in readers:
            assert reader.states(known[0]) == ["paused", "cancelled", "removed"], reader.describe()
            assert all(reader.states(identity) == ["paused", "cancelled"] for identity in known[1:20]), reader.describe()
            assert reader.count("empty") == 0, reader.describe()

        # A stop ends streams in order.
        service.stop()
        once = [reader for reader in readers if not CLIENTS[reader.name]]
        again = [reader for reader in readers if CLIENTS[reader.name]]
        each(lambda reader: reader.events[-1]["name"] == "end", "an end in order", of=once)
        service.start()
        call("POST", f"/downloads/{known[20]}/cancel", {})
        each(lambda reader: reader.states(known[20]) == ["paused", "cancelled"], "an event after the restart", of=again)
        for reader in readers:
            assert not [line for line in reader.errors if "Error" in line], reader.describe()
            print(f"{reader.name}: {sum('value' in event for event in reader.events)} events, none lost")
    finally:
        for reader in readers:
            reader.close()
        service.close()
    print(f"events: {len(CLIENTS)} clients ({time.monotonic() - begun:.0f} s)")


main()
