#!/usr/bin/env bash
# eventsource 2.0.2 for Node.js (Debian 12). A stream ends within an event, before its empty line. The client keeps the half, connects again
# with the id of that half, and joins the half to the first event of the next stream. One event arrives with the data of both.
#
# A good guess: an event without its empty line is dropped at the end of the stream, id and all. The HTML standard says so.
set -euo pipefail
missing=()
for each in nodejs node-eventsource python3; do dpkg-query -W "$each" >/dev/null 2>&1 || missing+=("$each"); done
if [ ${#missing[@]} -gt 0 ]; then apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; fi
work="$(mktemp -d)"
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cat >"$work/server.py" <<'PYTHON'
import http.server


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        last = self.headers.get("Last-Event-ID")
        # This is HTTP/1.0: the connection ends the stream.
        self.wfile.write(b"retry: 100\nid: 1\ndata: first\n\nid: 2\ndata: half\n" if last is None
                         else f"data: whole, asked for after {last}\n\n".encode())

    def log_message(self, *arguments):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
PYTHON
cat >"$work/client.js" <<'NODE'
const EventSource = require("/usr/share/nodejs/eventsource")
const source = new EventSource(process.argv[2])
let count = 0
source.onmessage = (event) => {
  console.log(JSON.stringify(event.data))
  count += 1
  if (count === 2) source.close()
}
NODE
python3 "$work/server.py" >"$work/port" &
for _ in $(seq 100); do if [ -s "$work/port" ]; then break; fi; sleep 0.1; done
heard="$(timeout 20 /usr/bin/node "$work/client.js" "http://127.0.0.1:$(cat "$work/port")/")"
dpkg-query -W node-eventsource nodejs
echo "$heard"
[ "$heard" = $'"first"\n"half\\nwhole, asked for after 2"' ] || { echo "this has changed" >&2; exit 1; }
