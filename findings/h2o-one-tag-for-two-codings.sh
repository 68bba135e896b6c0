#!/usr/bin/env bash
# h2o 2.2.5 (Debian 12) with `compress: ON`, as a proxy. The compressed response has the origin's strong ETag, unchanged, as the plain one has.
# A client with half of the compressed bytes, that continues them with `Range` and `If-Range`, gets 206 with plain bytes.
#
# A good guess: a proxy that compresses weakens the tag or adds to it, as nginx and Apache do, since a strong tag names bytes (RFC 9110
# §8.8.1).
set -euo pipefail
missing=()
for each in curl python3; do command -v "$each" >/dev/null || missing+=("$each"); done
if [ ${#missing[@]} -gt 0 ]; then apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; fi
work="$(mktemp -d)"
chmod 755 "$work"
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
# The package and its libraries are extracted, since their installation starts a server.
mkdir -p archives/partial root
apt-get update -qq
apt-get install -y -qq --download-only --reinstall --no-install-recommends -o APT::Sandbox::User=root -o Debug::NoLocking=1 \
    -o "Dir::Cache::Archives=$work/archives" h2o >/dev/null
for each in archives/*.deb; do dpkg-deb -x "$each" root; done
export LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu" H2O_ROOT="$work/root/usr"
cat >origin.py <<'PY'
import http.server
BODY = b"".join(b"%d\n" % number for number in range(20000))
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        body, first = BODY, 0
        if self.headers["Range"] and self.headers["If-Range"] == '"v1"':
            first = int(self.headers["Range"].removeprefix("bytes=").rstrip("-"))
            body = BODY[first:]
        self.send_response(206 if first else 200)
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(BODY) - 1}/{len(BODY)}")
        for field in [("Content-Type", "text/plain"), ("ETag", '"v1"'), ("Content-Length", str(len(body)))]:
            self.send_header(*field)
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
PY
python3 origin.py >origin &
until [ -s origin ]; do sleep 0.1; done
port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
cat >conf <<CONF
num-threads: 1
compress: ON
error-log: /dev/null
hosts:
  default:
    listen: { host: 127.0.0.1, port: $port }
    paths:
      /:
        proxy.reverse.url: http://127.0.0.1:$(cat origin)/
CONF
root/usr/bin/h2o -m worker -c conf >/dev/null 2>&1 &
for _ in $(seq 100); do if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi; sleep 0.1; done
url="http://127.0.0.1:$port/file"
form='%{http_code}, tag %header{etag}, coding "%header{content-encoding}", %{size_download} bytes'
plain="$(curl -s -o /dev/null -w "$form" "$url")"
packed="$(curl -s -o /dev/null -w "$form" -H 'Accept-Encoding: gzip' "$url")"
rest="$(curl -s -o /dev/null -w "$form" -H 'Accept-Encoding: gzip' -H 'Range: bytes=1000-' -H 'If-Range: "v1"' "$url")"
root/usr/bin/h2o --version | sed -n 1p
echo "plain:             $plain"
echo "compressed:        $packed"
echo "the rest, by tag:  $rest"
[[ "$plain" == '200, tag "v1", coding "", '* && "$packed" == '200, tag "v1", coding "gzip", '* && "$rest" == 206* ]] || { echo "this has changed" >&2; exit 1; }
