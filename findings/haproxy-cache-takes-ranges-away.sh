#!/usr/bin/env bash
# HAProxy 2.6.12 (Debian 12) with its cache before nginx. A range of a file that is not cached yet gets 206. Once the whole file is cached,
# the same request gets 200 with the whole file, although that response says `Accept-Ranges: bytes`.
#
# A good guess: a cache that has the whole file serves its ranges better than before.
set -euo pipefail
export PATH="$PATH:/usr/sbin"
missing=()
for each in haproxy nginx-light curl; do dpkg-query -W "$each" >/dev/null 2>&1 || missing+=("$each"); done
if [ ${#missing[@]} -gt 0 ]; then apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; fi
work="$(mktemp -d)"
chmod 755 "$work"
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$work"' EXIT
read -r origin front < <(python3 -c 'import socket as s
a, b = s.create_server(("127.0.0.1", 0)), s.create_server(("127.0.0.1", 0)); print(a.getsockname()[1], b.getsockname()[1])')
mkdir "$work/root"
seq 1 20000 >"$work/root/file.bin"
touch -d '2 hours ago' "$work/root/file.bin"
cat >"$work/nginx.conf" <<CONF
daemon off; master_process off; pid $work/pid; error_log $work/error.log; events { }
http { access_log off; client_body_temp_path $work/1; proxy_temp_path $work/2; fastcgi_temp_path $work/3; uwsgi_temp_path $work/4;
scgi_temp_path $work/5; server { listen 127.0.0.1:$origin; root $work/root; } }
CONF
cat >"$work/haproxy.cfg" <<CONF
defaults
  mode http
  timeout client 20s
  timeout server 20s
  timeout connect 5s
cache files
  total-max-size 64
  max-object-size 1000000
frontend front
  bind 127.0.0.1:$front
  default_backend origin
backend origin
  http-request cache-use files
  http-response cache-store files
  server origin 127.0.0.1:$origin
CONF
nginx -e "$work/error.log" -c "$work/nginx.conf" &
haproxy -db -f "$work/haproxy.cfg" >/dev/null 2>&1 &
for port in "$origin" "$front"; do
    for _ in $(seq 100); do if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi; sleep 0.1; done
done
url="http://127.0.0.1:$front/file.bin"
range() { curl -s -o /dev/null -r 1000-1999 -w '%{http_code}, %{size_download} bytes, Accept-Ranges: %header{accept-ranges}' "$url"; }
before="$(range)"
curl -s -o /dev/null "$url"
after="$(range)"
haproxy -v | sed -n 1p
echo "bytes=1000-1999 before the file is cached: $before"
echo "bytes=1000-1999 after it was fetched once: $after"
size="$(stat -c %s "$work/root/file.bin")"
[[ "$before" == "206, 1000 bytes"* && "$after" == "200, $size bytes, Accept-Ranges: bytes" ]] || { echo "this has changed" >&2; exit 1; }
