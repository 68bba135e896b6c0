"""An origin whose files have versions: `origin.py <port>`. It prints its port.

`/file/<size>/<name>` is a file of `size` bytes. Its versions are of the same length and differ in each of their parts and in their ETag.
`/control` with the members of the query changes, for files of a name: `version` (0: the one that If-Range names, or else the second; so it
is from the beginning), `pace` (bytes per second and connection; 0: as fast as may be) and `status` (what is answered instead of the file;
0: the file).
"""

import functools
import http.server
import random
import re
import sys
import time
import urllib.parse

PIECE = 64 << 10


@functools.lru_cache(maxsize=64)
def content(name, size, version):
    return random.Random(f"{name} {version}").randbytes(size)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    versions, paces, statuses = {}, {}, {}

    def log_message(self, *_):
        pass

    @staticmethod
    def tag(name, version):
        return f'"{name}-{version}"'

    def control(self, query):
        members = dict(urllib.parse.parse_qsl(query))
        name = members.get("name")
        for member, table in (("version", self.versions), ("pace", self.paces), ("status", self.statuses)):
            if member in members:
                table[name] = int(members[member])
        self.send_response(204)
        self.end_headers()

    def do_GET(self):
        target = urllib.parse.urlsplit(self.path)
        if target.path == "/control":
            return self.control(target.query)
        match = re.fullmatch(r"/file/(\d+)/(.+)", target.path)
        if match is None:
            return self.send_error(404)
        size, name = int(match[1]), match[2]
        if status := self.statuses.get(name, 0):
            return self.send_error(status)
        expected = self.headers.get("If-Range")
        version = self.versions.get(name, 0) or (1 if expected == self.tag(name, 1) else 2)
        tag = self.tag(name, version)
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        partial = asked is not None and expected in (None, tag)
        first = int(asked[1]) if partial else 0
        last = min(int(asked[2]), size - 1) if partial and asked[2] else size - 1
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
        body = memoryview(content(name, size, version))
        try:
            for start in range(first, last + 1, PIECE):
                self.wfile.write(body[start:min(start + PIECE, last + 1)])
                if pace := self.paces.get(name, 0):
                    time.sleep(PIECE / pace)
        except OSError:
            self.close_connection = True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_):
        pass


def main():
    server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
