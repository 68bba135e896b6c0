"""The servers around the service: a proxy that passes on each byte at once, and a static server of another origin."""

import contextlib
import http.client
import http.server
import pathlib
import threading
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Fields of one connection, and those that a server writes itself.
OWN = {"connection", "transfer-encoding", "keep-alive", "server", "date"}


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, handler, **members):
        super().__init__(("127.0.0.1", 0), type(handler.__name__, (handler,), members))
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        pass


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def respond(self, status, body, **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Proxy:
    """A reverse proxy. `streams` has the Last-Event-ID of each open stream of events, by its connection; `requests` all requests."""

    def __init__(self, port):
        self.port = port
        self.lock = threading.Lock()
        self.streams, self.requests, self.most = {}, [], 0
        #: Tickets that are refused, as if they had expired; with the fields of allowed origins or not.
        self.void, self.shows_refusals = set(), True
        self.server = Server(ProxyHandler, proxy=self)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def count(self, path, method="GET"):
        with self.lock:
            return sum(each[0] == method and each[1].split("?")[0] == path for each in self.requests)

    def clear(self):
        with self.lock:
            self.requests, self.most = [], len(self.streams)

    def close(self):
        self.server.close()


class ProxyHandler(Handler):
    proxy = None

    def forward(self):
        proxy, key = self.proxy, object()
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with proxy.lock:
            proxy.requests.append((self.command, self.path, self.headers.get("Last-Event-ID")))
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        self.close_connection = True
        if query.get("ticket") in proxy.void:
            shown = {"Access_Control_Allow_Origin": "*", "Cross_Origin_Resource_Policy": "cross-origin"} if proxy.shows_refusals else {}
            return self.respond(401, b"{}", Content_Type="application/problem+json", Connection="close", **(
                shown or {"Cross_Origin_Resource_Policy": "same-origin"}))
        upstream = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=60)
        try:
            upstream.request(self.command, self.path, body, {name: value for name, value in self.headers.items() if name.lower() not in OWN})
            response = upstream.getresponse()
        except OSError:
            upstream.close()
            return self.respond(502, b"<html><h1>502 Bad Gateway</h1></html>", Content_Type="text/html", Connection="close")
        if self.command == "GET" and "/events" in self.path and response.status == 200:
            with proxy.lock:
                proxy.streams[key] = self.headers.get("Last-Event-ID")
                proxy.most = max(proxy.most, len(proxy.streams))
            # A client that leaves is noticed at once, not at the next write.
            threading.Thread(target=self.watch, args=(upstream,), daemon=True).start()
        try:
            self.send_response_only(response.status)
            for name, value in response.getheaders():
                if name.lower() not in OWN:
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            while piece := response.read1(65536):
                self.wfile.write(piece)
        except (OSError, http.client.HTTPException, ValueError, AttributeError):
            pass
        finally:
            with proxy.lock:
                proxy.streams.pop(key, None)
            upstream.close()

    def watch(self, upstream):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            self.connection.recv(1)
            import socket
            upstream.sock.shutdown(socket.SHUT_RDWR)

    do_GET = do_HEAD = do_POST = do_PATCH = do_DELETE = do_OPTIONS = forward


TYPES = {".js": "text/javascript", ".html": "text/html", ".wav": "audio/wav"}


class StaticHandler(Handler):
    """Serves Clients/JavaScript at /client, and `pages`: bytes or functions that return them, by path."""

    pages = {}

    def do_GET(self):
        path = self.path.split("?")[0]
        if path.startswith("/client/"):
            body = (ROOT / "Clients/JavaScript" / path.removeprefix("/client/")).read_bytes()
        elif path in self.pages:
            body = self.pages[path]
        else:
            return self.respond(404, b"")
        fields = {"Content_Security_Policy": "default-src 'none'; script-src 'self'; style-src 'none'; connect-src http:; media-src http:"}
        kind = TYPES.get(pathlib.PurePath(path).suffix, "text/html")
        self.respond(200, body, Content_Type=kind, Cache_Control="no-store", Access_Control_Allow_Origin="*", **(fields if kind == "text/html" else {}))
