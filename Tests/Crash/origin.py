"""An origin that honours ranges, paces its answers and notes what was asked of it: `origin.py <port> <log>`.

`/<pace>/<seed>-<size>.bin` is an entity of `size` bytes, sent at `pace` bytes per second (0: as fast as may be).
"""

import functools
import http.server
import json
import os
import random
import re
import sys
import time

PIECE = 16 * 1024


@functools.lru_cache(maxsize=64)
def content(seed, size):
    return random.Random(seed).randbytes(size)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    log = -1

    def log_message(self, *_):
        pass

    def do_GET(self):
        match = re.fullmatch(r"/(\d+)/(\d+)-(\d+)\.bin", self.path)
        if not match:
            self.send_error(404)
            return
        pace, seed, size = map(int, match.groups())
        body = content(seed, size)
        tag = f'"{seed}-{size}"'
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        partial = asked is not None and self.headers.get("If-Range", tag) == tag
        first = int(asked[1]) if partial else 0
        last = min(int(asked[2]), size - 1) if partial and asked[2] else size - 1
        note = {"path": self.path, "first": first, "last": last, "range": self.headers.get("Range")}
        os.write(Handler.log, (json.dumps(note) + "\n").encode())
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

    def handle_error(self, *_):
        pass


if __name__ == "__main__":
    Handler.log = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
