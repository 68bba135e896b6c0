#!/usr/bin/env bash
# sseclient 0.0.27 (PyPI) reads the bytes of the connection, with the sizes of chunks between them. An event that comes in two chunks is handed
# on with the data of the first, and the rest is lost without an error. The end of a stream is not seen while its connection stays open, so
# the client does not connect again.
#
# A good guess: requests, the HTTP library under it, has taken the chunks away.
set -euo pipefail
work="$(mktemp -d)"
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check sseclient==0.0.27 requests==2.34.2 urllib3==2.8.0
cat >"$work/events.py" <<'PYTHON'
import http.server
import importlib.metadata
import sys
import threading
import time

import sseclient

CHUNKS = {"/one": [b"data: the whole event\n\n"], "/two": [b"data: the who", b"le event\n\n"]}
asked = []


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        asked.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in [*CHUNKS[self.path], b""]:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            time.sleep(0.3)

    def log_message(self, *arguments):
        pass


def follow(url, heard):
    for event in sseclient.SSEClient(url, retry=100):
        if event.data:
            heard.append(event.data)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print("sseclient", importlib.metadata.version("sseclient"))
seen = {path: [] for path in CHUNKS}
for path, heard in seen.items():
    threading.Thread(target=follow, args=(f"http://127.0.0.1:{server.server_port}{path}", heard), daemon=True).start()
# The streams end after half a second, and the client's wait is a tenth of a second.
time.sleep(6)
for path, heard in seen.items():
    print(f"{path}: {asked.count(path)} request, events {heard}")
if seen != {"/one": ["the whole event"], "/two": ["the who"]} or sorted(asked) != ["/one", "/two"]:
    sys.exit("this has changed")
PYTHON
timeout 60 "$work/venv/bin/python" "$work/events.py"
