#!/usr/bin/env bash
# GNU Wget2 1.99.1 (Debian 12). With `--post-data` and `--header 'Content-Type: application/json'` it sends that field and, after it, a
# `Content-Type: application/x-www-form-urlencoded` of its own. And it ends with status 0 without writing the body of a 201.
#
# A good guess: as in curl and GNU Wget 1.21, the user's field takes the place of the program's own, and any successful body is written.
set -euo pipefail
if ! command -v wget2 >/dev/null; then apt-get update -qq && apt-get install -y -qq --no-install-recommends wget2 >/dev/null; fi
work="$(mktemp -d)"
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cat >"$work/server.py" <<'PYTHON'
import http.server


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        body = "; ".join(self.headers.get_all("Content-Type")).encode()
        self.send_response(int(self.path[1:]))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
PYTHON
python3 "$work/server.py" >"$work/port" &
for _ in $(seq 100); do if [ -s "$work/port" ]; then break; fi; sleep 0.1; done
post() { timeout 20 wget2 -q -O - --header 'Content-Type: application/json' --post-data '{}' "http://127.0.0.1:$(cat "$work/port")/$1"; }
ok="$(post 200)" created="$(post 201)"
wget2 --version | sed -n 1p
echo "sent types:  $ok"
echo "body of 201: $created"
[ "$ok" = "application/json; application/x-www-form-urlencoded" ] && [ -z "$created" ] || { echo "this has changed" >&2; exit 1; }
