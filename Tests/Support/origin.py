"""The origin of the tests of crashes and power losses. It supports ranges, paces its responses, has files with versions and records
requests. `origin.py <port> [<log>]` prints its port; `Origin` runs it as a process.

`/file/<size>/<name>` is a file of `size` bytes; `?pace=<n>` limits it to this number of bytes per second and connection (0: unlimited). Its
two versions have the same length and differ in each of their parts and in their ETag.

`/control` with the members of the query changes all files of a name: `version` (0, the default: the one that If-Range names, otherwise the
second), `pace` (in place of the URL's) and `status` (a status in place of the file; 0: the file).

`/noted` responds once all requests of earlier connections are recorded, for use after their client has ended.
"""

import functools
import http.server
import json
import os
import random
import re
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

#: The bytes before a missing one that a continued download may fetch again, and compares.
OVERLAP = 16 << 10

#: The maximum bytes of one write.
PIECE = 64 << 10
#: A paced response is sent in at least this many pieces per second.
PIECES_PER_SECOND = 16
#: The time limit of a request to the origin itself, in seconds.
PATIENCE = 90
#: The version of a file for a client that knows none.
LATEST = 2


@functools.lru_cache(maxsize=64)
def content(name, size, version=LATEST):
    return random.Random(f"{name} {version}").randbytes(size)


class Origin:
    """The origin in its own process, which can end and return."""

    def __init__(self, port=0, log=None):
        self.port, self.log, self.read = port, log, 0
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, __file__, str(self.port), *([self.log] if self.log else [])], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def kill(self):
        self.process.kill()
        self.process.wait(30)
        self.process.stdout.close()

    close = kill

    def url(self, size, name, pace=0):
        return f"http://127.0.0.1:{self.port}/file/{size}/{name}" + (f"?pace={pace}" if pace else "")

    def ask(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=PATIENCE):
            pass

    def set(self, **members):
        """Changes the files with a name."""
        self.ask("/control?" + urllib.parse.urlencode(members))

    def settle(self):
        """Waits until all requests of an ended service are recorded."""
        self.ask("/noted")

    def news(self):
        """The requests since the last call."""
        with open(self.log, encoding="utf-8") as log:
            log.seek(self.read)
            text = log.read()
        end = text.rfind("\n") + 1
        self.read += len(text[:end].encode())
        return [json.loads(line) for line in text[:end].splitlines()]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    #: The descriptor of the log, if there is one.
    log = None
    versions, paces, statuses = {}, {}, {}
    #: The clients' addresses of connections on which an unrecorded request may arrive.
    listening = set()
    changed = threading.Condition()

    def log_message(self, *_):
        pass

    @staticmethod
    def tag(name, version):
        return f'"{name}-{version}"'

    def listen(self, listens):
        with self.changed:
            (self.listening.add if listens else self.listening.discard)(self.client_address)
            self.changed.notify_all()

    def handle_one_request(self):
        self.listen(True)
        super().handle_one_request()

    def finish(self):
        self.listen(False)
        super().finish()

    def respond_empty(self, status, **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def wait_until_noted(self):
        with self.changed:
            earlier = self.listening - {self.client_address}
            noted = self.changed.wait_for(lambda: not earlier & self.listening, timeout=60)
        self.respond_empty(204 if noted else 500, Connection="close")

    def control(self, query):
        members = dict(urllib.parse.parse_qsl(query))
        name = members.get("name")
        for member, table in (("version", self.versions), ("pace", self.paces), ("status", self.statuses)):
            if member in members:
                table[name] = int(members[member])
        self.respond_empty(204)

    def note(self, first, last):
        if self.log is not None:
            note = {"path": self.path, "first": first, "last": last, "range": self.headers.get("Range")}
            os.write(self.log, (json.dumps(note) + "\n").encode())
        self.listen(False)

    def do_GET(self):
        target = urllib.parse.urlsplit(self.path)
        if target.path == "/noted":
            return self.wait_until_noted()
        if target.path == "/control":
            return self.control(target.query)
        match = re.fullmatch(r"/file/(\d+)/(.+)", target.path)
        if match is None:
            return self.send_error(404)
        size, name = int(match[1]), match[2]
        if status := self.statuses.get(name, 0):
            return self.send_error(status)
        default_pace = int(dict(urllib.parse.parse_qsl(target.query)).get("pace", 0))
        expected = self.headers.get("If-Range")
        version = self.versions.get(name, 0) or (1 if expected == self.tag(name, 1) else LATEST)
        tag = self.tag(name, version)
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        partial = asked is not None and expected in (None, tag)
        first = int(asked[1]) if partial else 0
        last = min(int(asked[2]), size - 1) if partial and asked[2] else size - 1
        self.note(first, last)
        if first >= size:
            return self.respond_empty(416, Content_Range=f"bytes */{size}", Content_Length="0")
        self.send_response(206 if partial else 200)
        if partial:
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.send_header("ETag", tag)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(last + 1 - first))
        self.end_headers()
        body = memoryview(content(name, size, version))
        try:
            while first <= last:
                pace = self.paces.get(name, default_pace)
                end = min(first + (min(PIECE, pace // PIECES_PER_SECOND + 1) if pace else PIECE), last + 1)
                self.wfile.write(body[first:end])
                if pace and end <= last:
                    time.sleep((end - first) / pace)
                first = end
        except OSError:
            self.close_connection = True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def process_request(self, request, client_address):
        # In the order of arrival, before a thread has read anything from it.
        with Handler.changed:
            Handler.listening.add(client_address)
        super().process_request(request, client_address)

    def handle_error(self, *_):
        pass


def main():
    if len(sys.argv) > 2:
        Handler.log = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
