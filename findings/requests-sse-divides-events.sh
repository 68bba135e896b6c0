#!/usr/bin/env bash
# requests-sse 0.5.3 (PyPI). Lines of an event end with CR LF, and a chunk of the response ends between the two. The LF, which comes with the
# next chunk, counts as an empty line. So the event is handed on without its later lines, and these become an event of their own.
#
# A good guess: the ends of chunks make no difference to events. httpx-sse reads both streams below as one event.
set -euo pipefail
work="$(mktemp -d)"
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check requests-sse==0.5.3 requests==2.34.2 httpx-sse==0.4.3 httpx==0.28.1
cat >"$work/events.py" <<'PYTHON'
import http.server
import importlib.metadata
import sys
import threading
import time

import httpx
import httpx_sse
import requests_sse

CHUNKS = {
    "one chunk": [b"data: one\r\ndata: two\r\n\r\n"],
    "two chunks": [b"data: one\r", b"\ndata: two\r\n\r\n"],
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in [*CHUNKS[self.path[1:].replace("-", " ")], b"data: end\r\n\r\n", b""]:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            time.sleep(0.3)

    def log_message(self, *arguments):
        pass


def with_requests_sse(url):
    with requests_sse.EventSource(url) as source:
        for event in source:
            if event.data == "end":
                return
            yield event.data


def with_httpx_sse(url):
    with httpx.Client(trust_env=False) as client, httpx_sse.connect_sse(client, "GET", url) as source:
        for event in source.iter_sse():
            if event.data == "end":
                return
            yield event.data


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
seen = []
for name, read in (("requests-sse", with_requests_sse), ("httpx-sse", with_httpx_sse)):
    for chunks in CHUNKS:
        seen.append(list(read(f"http://127.0.0.1:{server.server_port}/{chunks.replace(' ', '-')}")))
        print(f"{name} {importlib.metadata.version(name)}, {chunks}: {seen[-1]}")
if seen != [["one\ntwo"], ["one", "two"], ["one\ntwo"], ["one\ntwo"]]:
    sys.exit("this has changed")
PYTHON
timeout 60 "$work/venv/bin/python" "$work/events.py"
