#!/usr/bin/env bash
# Squid 5.7 (Debian 12) as a reverse proxy with its memory cache. The origin has one response with a tag and `Cache-Control: no-cache`. A
# client that has it, and asks with its tag, gets the whole response again (200), although Squid has asked the origin with the same tag
# and got 304. With `private, no-cache`, which Squid does not keep, the client gets 304.
#
# A good guess: a cache that has just been told 304 tells it to a client with the same tag (RFC 9111, section 4.3.2).
set -euo pipefail
export PATH="$PATH:/usr/sbin"
missing=()
for each in curl python3; do command -v "$each" >/dev/null || missing+=("$each"); done
if [ -n "${missing[*]// /}" ]; then apt-get update -qq && apt-get install -y -qq --no-install-recommends ${missing[*]} >/dev/null; fi
work="$(mktemp -d)" results=""
chmod 777 "$work"
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$work"' EXIT
# The package and its libraries are extracted, since their installation starts a server.
mkdir -p "$work/archives/partial" "$work/root"
apt-get update -qq
apt-get install -y -qq --download-only --reinstall --no-install-recommends -o APT::Sandbox::User=root -o Debug::NoLocking=1 \
    -o "Dir::Cache::Archives=$work/archives" squid squid-common squid-langpack >/dev/null
for each in "$work"/archives/*.deb; do dpkg-deb -x "$each" "$work/root"; done
export PATH="$PATH:$work/root/usr/sbin" LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu"
cat >"$work/origin.py" <<'PYTHON'
import http.server, sys


class Origin(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        isKnown = self.headers["If-None-Match"] == '"one"'
        print(self.path, 304 if isKnown else 200, file=sys.stderr, flush=True)
        self.send_response(304 if isKnown else 200)
        self.send_header("ETag", '"one"')
        self.send_header("Cache-Control", self.path[1:].replace("+", ", "))
        if not isKnown:
            self.send_header("Content-Length", "8")
        self.end_headers()
        if not isKnown:
            self.wfile.write(b"content\n")

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
print(server.server_port, flush=True)
server.serve_forever()
PYTHON
mkfifo "$work/port"
python3 "$work/origin.py" >"$work/port" 2>"$work/asked" &
read -r origin <"$work/port"
front="$(python3 -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')"
cat >"$work/squid.conf" <<CONF
visible_hostname front.example
http_port 127.0.0.1:$front accel defaultsite=front.example
cache_peer 127.0.0.1 parent $origin 0 no-query originserver
http_access allow all
cache_mem 16 MB
pid_filename $work/pid
cache_log $work/errors
access_log none
cache_store_log none
coredump_dir $work
mime_table $work/root/usr/share/squid/mime.conf
error_directory $work/root/usr/share/squid/errors/templates
icon_directory $work/root/usr/share/squid/icons
unlinkd_program $work/root/usr/lib/squid/unlinkd
pinger_enable off
netdb_filename none
CONF
squid -N -f "$work/squid.conf" &
for _ in $(seq 200); do if (exec 3<>"/dev/tcp/127.0.0.1/$front") 2>/dev/null; then break; fi; sleep 0.1; done
ask() { curl -s -o /dev/null -w '%{http_code}' "$@"; }
squid -v | sed -n 1p
for path in no-cache private+no-cache; do
    first="$(ask "http://127.0.0.1:$front/$path")"
    again="$(ask -H 'If-None-Match: "one"' "http://127.0.0.1:$front/$path")"
    asked="$(grep "^/$path " "$work/asked" | cut -d ' ' -f 2 | paste -sd ' ')"
    echo "Cache-Control: ${path/+/, }: the client gets $first and then $again; the origin answered $asked"
    results+="$first $again ($asked) "
done
[ "$results" = "200 200 (200 304) 200 304 (200 304) " ] || { echo "this has changed" >&2; exit 1; }
