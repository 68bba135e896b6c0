"""An origin that honours ranges, paces its answers and notes what was asked of it: `origin.py <port> <log>`.

`/<pace>/<seed>-<size>.bin` is an entity of `size` bytes, sent at `pace` bytes per second (0: as fast as may be). `/noted` is
answered when all that was asked on earlier connections has been noted: for when the client that had them is dead.
"""

import functools
import http.server
import json
import os
import random
import re
import sys
import threading
import time

PIECE = 16 * 1024


@functools.lru_cache(maxsize=64)
def content(seed, size):
    return random.Random(seed).randbytes(size)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    log = -1
    #: Clients' addresses of connections on which a request may come that has not been noted.
    listening = set()
    changed = threading.Condition()

    def log_message(self, *_):
        pass

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

    def wait_until_noted(self):
        with self.changed:
            earlier = self.listening - {self.client_address}
            noted = self.changed.wait_for(lambda: not earlier & self.listening, timeout=60)
        self.send_response(204 if noted else 500)
        self.send_header("Connection", "close")
        self.end_headers()

    def do_GET(self):
        if self.path == "/noted":
            self.wait_until_noted()
            return
        match = re.fullmatch(r"/(\d+)/(\d+)-(\d+)\.bin", self.path)
        if not match:
            self.send_error(404)
            return
        pace, seed, size = map(int, match.groups())
        tag = f'"{seed}-{size}"'
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        partial = asked is not None and self.headers.get("If-Range", tag) == tag
        first = int(asked[1]) if partial else 0
        last = min(int(asked[2]), size - 1) if partial and asked[2] else size - 1
        note = {"path": self.path, "first": first, "last": last, "range": self.headers.get("Range")}
        os.write(Handler.log, (json.dumps(note) + "\n").encode())
        self.listen(False)
        body = content(seed, size)
        if first >= size:
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{size}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if partial else 200)
        if partial:
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.send_header("ETag", tag)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(last + 1 - first))
        self.end_headers()
        try:
            for start in range(first, last + 1, PIECE):
                self.wfile.write(body[start:min(start + PIECE, last + 1)])
                if pace and start + PIECE <= last:
                    time.sleep(PIECE / pace)
        except OSError:
            self.close_connection = True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def process_request(self, request, client_address):
        # In the order of arrival, before a thread has seen anything of it.
        with Handler.changed:
            Handler.listening.add(client_address)
        super().process_request(request, client_address)

    def handle_error(self, *_):
        pass


if __name__ == "__main__":
    Handler.log = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
