"""The run before the power loss: a service under strace, a client with its commands, and the client's knowledge.

Each request has an id that its response repeats. So the trace shows the moment from which the client may have known the response: when the
service began to send it, in one order with the writes and syncs. Between two responses, the next request may have taken effect or not; there
is one client, and it sends one request at a time.
"""

import hashlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

import disk
import origin

#: The possible states of a running download.
RUNS = ["queued", "downloading", "retrying", "completed"]
#: Members of a download that only the client changes.
SETTABLE = ["labels", "priority", "filename", "folder"]
#: The duration of a sync in microseconds, as on a disk, so that other calls happen during it.
SYNC_DELAY = 3000
PATIENCE = 60
#: The directory of data directories: in memory if there is enough; all on one device, since it identifies files.
SHELF = "/dev/shm" if os.path.isdir("/dev/shm") and shutil.disk_usage("/dev/shm").free > 1e9 else None


class Broken(Exception):
    """The run itself failed, without a power loss."""


class Service:
    """The program under test."""

    def __init__(self, binary, data, log, wrapper=(), environment=None):
        self.log = open(log, "ab")
        self.process = subprocess.Popen(
            [*wrapper, binary, "serve", "--port", "0", "--data-dir", data, "--allow-private", "--log-level", "warning"],
            stdout=subprocess.PIPE, stderr=self.log, text=True, env={**os.environ, **(environment or {})})
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            status = self.process.wait(PATIENCE)
            self.close()
            raise Broken(f"it does not start: status {status}, {pathlib.Path(log).read_text()[-300:].strip()}")
        self.base = line.split()[-1]

    def ask(self, method, path, body=None, headers=None):
        """Status and JSON of a response."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.base + path, data, {"Content-Type": "application/json", **(headers or {})}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as response:
                text = response.read()
                return response.status, json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read() or b"null")

    def stop(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        status = self.process.wait(PATIENCE)
        self.close()
        if number == signal.SIGTERM and status != 0:
            raise Broken(f"it ended with status {status}")

    def close(self):
        self.process.stdout.close()
        self.log.close()


class Recording:
    """Plays the scenario, and keeps it in a directory: the traces, and the client's knowledge."""

    def __init__(self, binary, directory):
        self.binary, self.directory = binary, directory
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="pawl-power-", dir=SHELF))
        self.origin = origin.Origin()
        self.service, self.lives = None, 0
        self.steps, self.downloads, self.repeats = [], {}, []

    def run(self):
        try:
            self.start()
            self.scenario()
            tree = digests(self.root)
        finally:
            self.origin.kill()
            if self.service and self.service.process.poll() is None:
                self.service.stop()
            shutil.rmtree(self.root)
        story = {"root": self.root, "port": self.origin.port, "lives": self.lives, "steps": self.steps, "downloads": self.downloads,
                 "repeats": self.repeats, "tree": tree}
        pathlib.Path(self.directory, "story.json").write_text(json.dumps(story, indent=1))

    # The service

    def start(self):
        self.lives += 1
        self.trace = os.path.join(self.directory, f"trace-{self.lives}")
        calls = ",".join(f"?{call}" for call in disk.CALLS)
        wrapper = ["strace", "-D", "-f", "-q", "--seccomp-bpf", "-v", "-xx", "-y", "-s", str(4 << 20), "-e", "signal=none",
                   "-e", f"trace={calls}", "-e", f"inject=fsync,fdatasync,syncfs:delay_enter={SYNC_DELAY}", "-o", self.trace]
        self.service = Service(self.binary, self.root + "/data", os.path.join(self.directory, "log"), wrapper)
        self.listener = threading.Thread(target=self.listen, args=(self.service.base,))
        self.listener.start()

    def stop(self):
        process = self.service.process.pid
        self.service.stop(signal.SIGTERM)
        self.listener.join(PATIENCE)
        end = re.compile(rb"^%d +\+\+\+ (exited|killed)" % process, re.MULTILINE)
        deadline = time.monotonic() + PATIENCE
        while not end.search(pathlib.Path(self.trace).read_bytes()[-10_000:]):
            if time.monotonic() > deadline:
                raise Broken("strace has not written its end")
            time.sleep(0.05)

    @staticmethod
    def listen(base):
        """Reads available events: their contents are known to the client."""
        try:
            with urllib.request.urlopen(base + "/downloads/events?interval=5000", timeout=PATIENCE) as events:
                while events.read1(1 << 16):
                    pass
        except (OSError, http.client.HTTPException):
            pass

    # The client

    def request(self, method, path, body, facts, expect=200, headers=None):
        """Sends a request; `facts(response)` returns the client's knowledge then, by download."""
        step = f"power-{len(self.steps)}."
        status, response = self.service.ask(method, path, body, {"X-Request-Id": step, **(headers or {})})
        if status != expect:
            raise Broken(f"{method} {path} got {status}: {response}")
        self.steps.append({"id": step, "what": f"{method} {path}", "facts": facts(response)})
        return response

    def id(self, key):
        return self.downloads[key]["id"]

    def knows(self, key, states, **more):
        return {key: {"states": states, **more}}

    def add(self, key, response, url):
        self.downloads[key] = {"id": response["id"], "url": url, "size": int(url.split("/")[4]), "name": url.split("/", 5)[5]}

    def post(self, key, size, name, states=RUNS, **members):
        url = self.origin.url(size, name)

        def facts(response):
            self.add(key, response, url)
            return self.knows(key, states)

        return self.request("POST", "/downloads", {"url": url, **members}, facts, 201)

    def command(self, verb, key, states, **more):
        """`more` are facts, or names of members of the response that are facts."""
        def facts(response):
            return self.knows(key, states, **{fact: response[member] for fact, member in more.items()})

        return self.request("POST", f"/downloads/{self.id(key)}/{verb}", None, facts)

    def pause(self, key):
        return self.command("pause", key, ["paused"], bytes="bytesReceived")

    def patch(self, key, states, **members):
        def facts(response):
            for member, value in members.items():
                if response[member] != value:
                    raise Broken(f"PATCH of {members} got {response}")
            return self.knows(key, states, bytes=response["bytesReceived"], **members)

        self.request("PATCH", f"/downloads/{self.id(key)}", members, facts)

    def delete(self, key, with_file, then="gone"):
        # `None` among the states means no download.
        query = "?deleteFile=true" if with_file else ""
        self.request("DELETE", f"/downloads/{self.id(key)}{query}", None, lambda _: self.knows(key, [None], file=then), 204)

    def wait(self, key, condition, state=None):
        """Waits for a report about a download. A state is remembered."""
        deadline = time.monotonic() + PATIENCE
        while True:
            step = f"power-{len(self.steps)}."
            _, download = self.service.ask("GET", f"/downloads/{self.id(key)}", headers={"X-Request-Id": step})
            if condition(download):
                break
            if time.monotonic() > deadline:
                raise Broken(f"waited in vain for {key}: {download}")
            time.sleep(0.02)
            # The id of a response without facts is not used again: the next one would be taken for it.
            self.steps.append({"id": step, "what": "", "facts": {}})
        self.steps.append({"id": step, "what": f"GET {key}", "facts": self.knows(key, [state]) if state else {}})
        return download

    def complete(self, *keys):
        for key in keys:
            self.wait(key, lambda download: download["state"] == "completed", "completed")

    def received(self, key, count):
        self.wait(key, lambda download: download["bytesReceived"] >= count)

    # The scenario

    def scenario(self):
        self.few_small_ones()
        self.large_one()
        self.another_version()
        self.folders()
        self.ends()
        self.removals()
        self.stop()
        # The record file is a single file again, without a log.
        self.start()
        self.post("late", 30_000, "late.bin")
        self.complete("late")
        self.stop()

    def few_small_ones(self):
        self.post("first", 20_000, "first.bin")
        self.complete("first")
        urls = {f"batch {number}": self.origin.url(5_000 + number, f"batch-{number}.bin") for number in range(7)}

        def facts(response):
            for key, item in zip(urls, response["items"]):
                self.add(key, item["download"], urls[key])
            return {key: {"states": RUNS} for key in urls}

        self.request("POST", "/downloads/batch", {"downloads": [{"url": url} for url in urls.values()]}, facts)
        self.complete(*urls)
        body = {"url": self.origin.url(700, "repeated.bin"), "paused": True, "labels": ["kept"]}
        headers = {"Idempotency-Key": '"power"'}

        def facts(response):
            self.add("repeated", response, body["url"])
            return self.knows("repeated", ["paused"], labels=["kept"])

        self.request("POST", "/downloads", body, facts, 201, headers)
        self.repeats.append({"step": len(self.steps) - 1, "body": body, "headers": headers, "download": "repeated"})
        self.request("PATCH", "/settings", {"maxPerHost": 6}, lambda _: {"settings": {"maxPerHost": 6}})

    def large_one(self):
        """A download over several connections, paused, changed, and stopped with the service."""
        name = "large.bin"
        self.origin.set(name=name, pace=800_000)
        self.post("large", 9 << 20, name)
        self.received("large", 2 << 20)
        self.pause("large")
        self.patch("large", ["paused"], priority=3)
        self.patch("large", ["paused"], filename="renamed.bin")
        self.patch("large", ["paused"], folder="large/files")
        self.command("resume", "large", RUNS)
        self.received("large", 4 << 20)
        self.stop()
        self.start()
        self.received("large", 6 << 20)
        self.origin.set(name=name, pace=0)
        self.complete("large")

    def another_version(self):
        """A file that has changed when its download continues."""
        for key, paused in (("changed", True), ("changed alone", False)):
            name = key.replace(" ", "-") + ".bin"
            self.origin.set(name=name, pace=1_000_000, version=1)
            self.post(key, 3 << 20, name)
            self.received(key, 1_000_000)
            self.pause(key)
            self.origin.set(name=name, version=2, pace=600_000)
            self.command("resume", key, RUNS)
            # The count starts again.
            self.wait(key, lambda download: 0 < download["bytesReceived"] < 900_000)
            self.received(key, 1_200_000)
            if paused:
                self.pause(key)
                self.command("resume", key, RUNS)
            self.origin.set(name=name, pace=0)
            self.complete(key)

    def folders(self):
        """Folders that are created, used by several downloads, removed and created again."""
        self.post("inner", 9_000, "inner.bin", folder="music/live")
        self.complete("inner")
        self.post("outer", 9_100, "outer.bin", folder="music")
        self.complete("outer")
        self.delete("inner", True)
        self.post("inner again", 9_200, "again/inner.bin", folder="music/live")
        self.complete("inner again")
        self.delete("outer", True)
        self.post("alone", 9_300, "alone.bin", folder="alone/in/here")
        self.complete("alone")
        self.delete("alone", True)

    def ends(self):
        """Downloads that are cancelled or fail, and are retried."""
        for key in ("cancelled", "cancelled for good"):
            name = key.replace(" ", "-") + ".bin"
            self.origin.set(name=name, pace=800_000)
            self.post(key, 2 << 20, name)
            self.received(key, 400_000)
        self.pause("cancelled for good")
        self.command("cancel", "cancelled for good", ["cancelled"])
        self.command("cancel", "cancelled", ["cancelled"])
        self.origin.set(name="cancelled.bin", version=2, pace=0)
        self.command("retry", "cancelled", RUNS)
        self.complete("cancelled")
        self.origin.set(name="failed.bin", status=404)
        self.post("failed", 50_000, "failed.bin", [*RUNS, "failed"])
        self.wait("failed", lambda download: download["state"] == "failed", "failed")
        self.origin.set(name="failed.bin", status=0)
        self.command("retry", "failed", RUNS)
        self.complete("failed")

    def removals(self):
        self.delete("batch 0", False, "kept")
        self.delete("batch 1", True)
        # Another download has the name now.
        self.post("heir", 6_000, "of/another/batch-1.bin")
        self.complete("heir")
        self.origin.set(name="removed.bin", pace=800_000)
        self.post("removed", 2 << 20, "removed.bin")
        self.received("removed", 400_000)
        self.delete("removed", True)
        self.delete("first", True)


def digests(directory):
    """The SHA-256 of each file below."""
    paths = (path for path in pathlib.Path(directory).rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


class Story:
    """A read recording: the client's knowledge at each position of the trace."""

    def __init__(self, directory):
        story = json.loads(pathlib.Path(directory, "story.json").read_text())
        self.root, self.port, self.downloads, self.repeats = story["root"], story["port"], story["downloads"], story["repeats"]
        #: The contents of the disk at the end.
        self.tree = story["tree"]
        self.trace = disk.Trace(self.root)
        #: The ends of processes.
        self.ends = []
        for life in range(1, story["lives"] + 1):
            self.trace.read(os.path.join(directory, f"trace-{life}"))
            self.ends.append(self.trace.position)
        self.keys = {download["id"]: key for key, download in self.downloads.items()}
        positions = {}
        completed = re.compile(rb'"id":"([^"]+)","url":"[^"]*","state":"completed"')
        #: The position at which each download was first reported as complete, in any response or event.
        self.announced = {}
        for position, data in self.trace.sent:
            for step in re.findall(rb"power-\d+\.", data):
                positions.setdefault(step.decode(), position)
            for id in completed.findall(data):
                self.announced.setdefault(self.keys.get(id.decode()), position)
        self.steps = story["steps"]
        for step in self.steps:
            step["position"] = positions[step["id"]]
        #: By SHA-256, the downloads with these bytes in some version.
        self.contents = {}
        for key, download in self.downloads.items():
            for version in (1, 2):
                content = origin.content(download["name"], download["size"], version)
                self.contents.setdefault(hashlib.sha256(content).hexdigest(), set()).add(key)

    def positions(self):
        """The interesting moments of a power loss: before the end of a sync, when the client has learned something, and at the ends."""
        shown = {step["position"] for step in self.steps if step["facts"]}
        shown.update(self.announced.values())
        return sorted(shown | {sync.end - 1 for sync in self.trace.syncs} | set(self.ends))

    def facts(self, position):
        """The rules after a power loss, by download. It may be in one of its `states`; None among them: it may be missing."""
        facts = {key: {"states": [None]} for key in self.downloads}
        facts["settings"] = {}
        for step in self.steps:
            if step["position"] > position:
                # It may have been carried out already.
                for key, new in step["facts"].items():
                    facts[key] = self.either(facts[key], self.after(facts[key], new))
                if step["facts"] or step["what"]:
                    break
                continue
            for key, new in step["facts"].items():
                facts[key] = self.after(facts[key], new)
        for key, download in self.downloads.items():
            if self.announced.get(key, position + 1) <= position and "completed" in facts[key]["states"]:
                facts[key]["states"] = ["completed"] + ([None] if None in facts[key]["states"] else [])
        return facts

    @staticmethod
    def after(old, new):
        """Values that a client has set stay."""
        return {name: value for name, value in old.items() if name in SETTABLE} | new

    @staticmethod
    def either(old, new):
        both = {name: value for name, value in old.items() if name in new and new[name] == value}
        if "states" in old:
            both["states"] = old["states"] + [state for state in new["states"] if state not in old["states"]]
            both["file"] = "either"
        return both

    def repeated(self, position):
        return [repeat for repeat in self.repeats if self.steps[repeat["step"]]["position"] <= position]


