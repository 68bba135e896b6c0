"""A server that behaves as no service should, and tells what it was asked: for the tests of clients.

The first name of a path chooses the behaviour. A part of it after a hyphen keeps the counts of tests apart: `/silent-one/downloads/events`.
Prints its address, and runs until it is killed.
"""

import collections
import http.server
import json
import threading

DOWNLOAD = {
    "id": "01", "url": "https://example.org/a.bin", "state": "completed", "filename": "a.bin", "folder": "", "mediaType": None,
    "bytesReceived": 1, "bytesTotal": 1, "progress": 1.0, "bytesPerSecond": 0, "etaSeconds": None, "stalled": False, "error": None,
    "sha256": None, "labels": [], "track": None, "createdAt": "2026-01-02T03:04:05.678Z", "updatedAt": "2026-01-02T03:04:06.789Z",
    "completedAt": None, "fileMissing": False, "waitingFor": None,
}
connections = collections.Counter()
closed = collections.Counter()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def respond(self, status, media_type, body, **fields):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": media_type, "Content-Length": str(len(data)), **fields}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def stream(self, *events):
        """Begins a stream of events. Each is an id, a name and data."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for identity, name, data in events:
            self.wfile.write(f"id: {identity}\nevent: {name}\ndata: {json.dumps(data)}\n\n".encode())

    def hold(self, key):
        """Waits until the client closes the connection."""
        self.close_connection = True
        self.connection.recv(1)
        closed[key] += 1

    def do_GET(self):
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        key, path = self.path[1:].split("/", 1)
        kind = key.split("-")[0]
        if kind in ("silent", "night") and path.startswith("downloads?"):
            return self.respond(200, "application/json", {"items": [], "nextCursor": None, "total": 0})
        connections[key] += 1
        getattr(self, kind)(key)

    do_POST = do_GET

    def echo(self, key):
        seen = [self.path, self.headers["Authorization"], self.headers["Cookie"], connections[key]]
        self.respond(200, "Application/JSON; charset=utf-8", {"results": [], "attribution": json.dumps(seen)},
                     Cache_Control="public, max-age=600", Set_Cookie="kept=yes; Path=/")

    def counts(self, key):
        name = key.removeprefix("counts-")
        self.respond(200, "application/json", {"results": [], "attribution": f"{connections[name]} opened, {closed[name]} closed"})

    def refuse(self, _):
        self.respond(409, "application/problem+json", {
            "type": "/problems/duplicate", "title": "A title", "status": 409, "detail": self.path, "code": "duplicate", "new": [1]})

    def teapot(self, _):
        self.respond(418, "text/plain", b"short and stout")

    def html(self, _):
        self.respond(200, "text/html", b"<!doctype html><title>Log in</title>")

    def nothing(self, _):
        self.respond(200, "application/json", {})

    def cut(self, _):
        self.respond(200, "application/json", b'{"results":', Content_Length="1000")
        self.close_connection = True

    def near(self, _):
        self.respond(307, "text/plain", b"", Location="/echo/moved")

    def away(self, _):
        self.respond(307, "text/plain", b"", Location=f"http://127.0.0.1:{other.server_port}/echo/moved")

    def silent(self, key):
        self.stream(("e-1", "snapshot", []))
        self.hold(key)

    def mute(self, key):
        self.hold(key)

    def night(self, key):
        """A stream that breaks off, a proxy without its service, a login page, and a stream that continues."""
        last = self.headers["Last-Event-ID"]
        if connections[key] == 1:
            self.stream(("e-1", "snapshot", []), ("e-2", "download", DOWNLOAD))
        elif connections[key] == 2:
            self.respond(502, "text/html", b"<title>Bad gateway</title>")
        elif connections[key] == 3:
            self.html(key)
        elif last == "e-2":
            self.stream(("e-3", "news", {}), ("e-4", "download", DOWNLOAD), ("e-5", "removed", {"id": "01"}))
            self.hold(key)
        else:
            self.respond(400, "application/problem+json", {
                "type": "/", "title": "t", "status": 400, "detail": f"the last id is {last}", "code": "invalid-request"})

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        """Clients may close connections at any time."""


server, other = Server(("127.0.0.1", 0), Handler), Server(("127.0.0.1", 0), Handler)
threading.Thread(target=other.serve_forever, daemon=True).start()
print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
