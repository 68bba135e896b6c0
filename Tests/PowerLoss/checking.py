"""Opens a data directory in a possible state after a power loss with the service, and checks every promise.

At once: only whole files have names in `files/`, and each record equals the client's knowledge, or is later. Then paused downloads are resumed
and failed ones retried, and once all have ended: each file is one version of the origin's file, no removed file is back, and every remaining
file belongs to a record.
"""

import hashlib
import os
import pathlib
import time
import urllib.request

import recording

PATIENCE = 30
#: The time for the removal of leftovers after the last download has ended.
TIDYING = 5
#: Files of at most this many bytes are also requested.
MOST_SERVED = 64 << 10
#: The file that a start publishes as a trial and removes again. A power loss in between leaves it until the next start.
TRIAL = ".pawl-trial"


class Violation(Exception):
    """A broken promise: the rule, the download, and the observation."""

    def __init__(self, rule, key, detail):
        super().__init__(f"{key}: {rule}: {detail}")
        self.rule, self.key, self.detail = rule, key, detail


class Check:
    def __init__(self, binary, directory, story, position, environment):
        self.binary, self.directory, self.story, self.environment = binary, directory, story, environment
        self.data = os.path.join(directory, "data")
        self.facts = story.facts(position)
        self.repeats = story.repeated(position)
        self.digests = {}

    def run(self):
        """Raises the first violation."""
        self.check_files("a file is not whole", but=TRIAL)
        try:
            self.service = recording.Service(self.binary, self.data, os.path.join(self.directory, "log"), (), self.environment)
        except recording.Broken as broken:
            raise Violation("it does not start", "service", str(broken)) from None
        try:
            found = self.everything()
            self.check_known(found)
            self.check_published(found)
            self.check_settings()
            self.check_repeats()
            self.go_on(found)
            found = self.wait_for_ends()
            self.check_files("a file is not whole, or mixed")
            self.check_published(found)
            self.check_ended(found)
            self.check_leftovers(found)
        except OSError as error:
            raise Violation("it does not answer", "service", f"{error}, status {self.service.process.poll()}") from error
        finally:
            self.service.stop()

    def everything(self):
        status, page = self.service.ask("GET", "/downloads?limit=200")
        if status != 200:
            raise Violation("it does not answer", "service", f"{status} {page}")
        found = {}
        for item in page["items"]:
            key = self.story.keys.get(item["id"])
            if key is None:
                raise Violation("an unknown download", item["id"], item["url"])
            found[key] = item
        return found

    def files(self):
        """The SHA-256 of each finished file."""
        top = pathlib.Path(self.data, "files")
        return {str(path.relative_to(top)): self.digest(path) for path in top.rglob("*") if path.is_file()}

    @staticmethod
    def path(download):
        """The path of its finished file below `files`."""
        return os.path.join(download["folder"], download["filename"])

    def digest(self, path):
        status = path.stat()
        mark = status.st_ino, status.st_size, status.st_mtime_ns
        if mark not in self.digests:
            self.digests[mark] = hashlib.sha256(path.read_bytes()).hexdigest()
        return self.digests[mark]

    def check_files(self, rule, but=None):
        for name, digest in self.files().items():
            if name != but and digest not in self.story.contents:
                raise Violation(rule, f"files/{name}", f"{os.path.getsize(os.path.join(self.data, 'files', name))} bytes")

    def check_known(self, found):
        for key, facts in self.facts.items():
            if "states" not in facts:
                continue
            download = found.get(key)
            state = download and download["state"]
            if state not in facts["states"]:
                rule = "a removed download is back" if facts["states"] == [None] else "an older state"
                if state is None:
                    rule = "a download is lost"
                raise Violation(rule, key, f"it is {state}, and was said to be {' or '.join(map(str, facts['states']))}")
            if state is None:
                continue
            if "bytes" in facts and state == "paused" and download["bytesReceived"] != facts["bytes"]:
                raise Violation("kept bytes are lost", key, f"it was paused at {facts['bytes']} and has {download['bytesReceived']}")
            for member in recording.SETTABLE:
                if member in facts and download[member] != facts[member]:
                    raise Violation("a change is lost", key, f"{member} is {download[member]} instead of {facts[member]}")

    def check_published(self, found):
        """A completed download has its file."""
        files = self.files()
        for key, download in found.items():
            if download["state"] == "completed":
                digest = files.get(self.path(download))
                if digest is None and self.facts[key].get("file") == "either":
                    continue
                if digest != download["sha256"] or key not in self.story.contents.get(digest, ()):
                    found_there = "missing" if digest is None else "another"
                    raise Violation("completed without its file", key, f"files/{self.path(download)} is {found_there}")
                self.check_served(key, download)

    def check_served(self, key, download):
        if download["bytesTotal"] > MOST_SERVED:
            return
        with urllib.request.urlopen(self.service.base + download["links"]["file"], timeout=PATIENCE) as response:
            if hashlib.sha256(response.read()).hexdigest() != download["sha256"]:
                raise Violation("another file is served", key, download["filename"])

    def check_settings(self):
        _, settings = self.service.ask("GET", "/settings")
        for member, value in self.facts["settings"].items():
            if settings[member] != value:
                raise Violation("a setting is lost", member, f"it is {settings[member]} instead of {value}")

    def check_repeats(self):
        for repeat in self.repeats:
            _, response = self.service.ask("POST", "/downloads", repeat["body"], repeat["headers"])
            if response.get("id") != self.story.downloads[repeat["download"]]["id"]:
                raise Violation("a repeated POST is carried out again", repeat["download"], str(response))

    def go_on(self, found):
        for download in found.values():
            if command := {"paused": "resume", "failed": "retry"}.get(download["state"]):
                status, response = self.service.ask("POST", f"/downloads/{download['id']}/{command}")
                if status not in (200, 409):
                    raise Violation("a command is refused", self.story.keys[download["id"]], f"{command}: {status} {response}")

    def wait_for_ends(self):
        deadline, pause = time.monotonic() + PATIENCE, 0.01
        while True:
            found = self.everything()
            waiting = [key for key, download in found.items() if download["state"] not in ("completed", "cancelled", "failed")]
            if not waiting:
                return found
            if time.monotonic() > deadline:
                raise Violation("a download does not end", waiting[0], f"it is {found[waiting[0]]['state']}, {found[waiting[0]]['error']}")
            time.sleep(pause)
            pause = min(pause * 1.5, 0.2)

    def check_ended(self, found):
        for key, facts in self.facts.items():
            download = found.get(key)
            if download and download["state"] == "failed":
                raise Violation("a download fails", key, str(download["error"]))
            if "states" in facts and (download and download["state"]) not in facts["states"] + ["completed"] * (facts["states"] != [None]):
                raise Violation("a download is lost or back", key, f"it ends as {download and download['state']}")

    def check_leftovers(self, found):
        deadline = time.monotonic() + TIDYING
        while left := os.listdir(os.path.join(self.data, "incomplete")):
            if time.monotonic() > deadline:
                raise Violation("bytes are left over", self.story.keys.get(left[0].split(".")[0], "?"), f"incomplete/{left[0]}")
            time.sleep(0.02)
        owned = {self.path(download) for download in found.values() if download["state"] == "completed"}
        for name, digest in self.files().items():
            if name in owned:
                continue
            fates = [self.facts[key].get("file") for key in self.story.contents[digest] if key not in found]
            if not {"kept", "either"} & set(fates):
                rule = "a removed file is back" if "gone" in fates else "a file that no record knows of"
                raise Violation(rule, sorted(self.story.contents[digest])[0], f"files/{name}")
