"""The common parts of the tests of /jsonrpc: an origin, a real aria2c and a Pawl, each on a free port, and calls to both."""
import base64
import contextlib
import http.server
import json
import os
import re
import shutil
import socket
import socketserver
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

SECRET = "a-secret-of-the-tests"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Origin(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """/fast/<bytes>/… at once, /slow/<bytes>/… at 40 KB/s, /status/<code>; with ranges as in RFC 9110."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self):
        super().__init__(("127.0.0.1", 0), OriginHandler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class OriginHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.serve(False)

    def do_GET(self):
        self.serve(True)

    def serve(self, has_body):
        parts = self.path.split("?")[0].split("/")
        if parts[1] == "status":
            self.send_response(int(parts[2]))
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        size = int(parts[2]) if parts[1] in ("fast", "slow") else 1000
        start, end = 0, size - 1
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked:
            start, end = int(asked[1]), min(int(asked[2] or end), end)
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{end}/{size}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(end - start + 1))
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", '"one"')
        self.end_headers()
        left = end - start + 1 if has_body else 0
        with contextlib.suppress(OSError):
            while left > 0:
                piece = min(left, 8192)
                self.wfile.write(b"x" * piece)
                left -= piece
                if parts[1] == "slow":
                    time.sleep(0.2)


class Peer:
    """A running aria2c or Pawl."""

    def __init__(self, name, secret=SECRET):
        self.name = name
        self.secret = secret
        self.directory = tempfile.mkdtemp(prefix=f"pawl-aria2-{name}.")
        self.port = free_port()
        self.log = open(os.path.join(self.directory, "log"), "wb")
        self.process = subprocess.Popen(self.command(), stdout=self.log, stderr=self.log, env=self.environment())
        self.url = f"http://127.0.0.1:{self.port}/jsonrpc"
        self.socket_url = f"ws://127.0.0.1:{self.port}/jsonrpc"
        deadline = time.monotonic() + 30
        while True:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{name} did not start: " + open(self.log.name).read())
            time.sleep(0.05)

    def environment(self):
        return {key: value for key, value in os.environ.items() if not key.startswith("PAWL_")}

    def stop(self):
        self.process.terminate()
        self.process.wait(20)
        shutil.rmtree(self.directory, ignore_errors=True)

    def send(self, body, method="POST", query="", fields={}, path="/jsonrpc"):
        """Sends bytes, and returns status, fields and body."""
        request = urllib.request.Request(
            self.url.replace("/jsonrpc", path) + query, data=body.encode() if isinstance(body, str) else body, method=method, headers=dict(fields))
        try:
            response = urllib.request.urlopen(request, timeout=30)
        except urllib.error.HTTPError as error:
            response = error
        return response.status, {name.lower(): value for name, value in response.headers.items()}, response.read().decode()

    def call(self, method, *parameters, has_secret=True):
        """Calls a method, and returns its result or its error."""
        secret = [f"token:{self.secret}"] if has_secret and method.startswith("aria2.") else []
        body = json.dumps({"jsonrpc": "2.0", "id": "q", "method": method, "params": secret + list(parameters)})
        answer = json.loads(self.send(body)[2])
        return answer["result"] if "result" in answer else answer["error"]

    def until(self, gid, *statuses):
        """Repeats the request until the download has one of these statuses."""
        deadline = time.monotonic() + 30
        while True:
            told = self.call("aria2.tellStatus", gid)
            if told.get("status") in statuses:
                return told
            if time.monotonic() > deadline:
                raise SystemExit(f"{self.name}: {gid} is {told}, not {statuses}")
            time.sleep(0.05)


class Aria2(Peer):
    def __init__(self, *options):
        self.options = options
        super().__init__("aria2c")

    def command(self):
        return [
            "aria2c", "--no-conf", "--quiet", "--enable-rpc", f"--rpc-listen-port={self.port}", f"--rpc-secret={self.secret}",
            f"--dir={self.files}", *self.options,
        ]

    @property
    def files(self):
        return os.path.join(os.path.realpath(self.directory), "files")


class Pawl(Peer):
    def __init__(self, *options):
        self.options = options
        super().__init__("pawl")

    def command(self):
        return [
            os.environ["PAWL_BINARY"], "serve", "--port", str(self.port), "--data-dir", self.directory, "--allow-private",
            "--token", self.secret, "--max-concurrent", "5", "--max-per-host", "5", "--log-level", "warning", *self.options,
        ]

    @property
    def files(self):
        return os.path.join(os.path.realpath(self.directory), "files")


def encoded(parameters):
    """Parameters in the form for GET."""
    return urllib.parse.quote(base64.b64encode(json.dumps(parameters).encode()).decode())
