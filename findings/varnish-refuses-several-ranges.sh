#!/usr/bin/env bash
# Varnish 7.1.1 (Debian 12) with `return (pass)`. A response of the origin with several ranges (206, multipart/byteranges) becomes 503:
# its log says "Invalid range header". One range passes.
#
# A good guess: a response that is passed, and never cached, is sent on as it is.
set -euo pipefail
export PATH="$PATH:/usr/sbin"
missing=()
for each in curl gcc libc6-dev nginx-light; do dpkg-query -W "$each" >/dev/null 2>&1 || missing+=("$each"); done
command -v nginx >/dev/null && missing=("${missing[@]/nginx-light/}")
if [ -n "${missing[*]// /}" ]; then apt-get update -qq && apt-get install -y -qq --no-install-recommends ${missing[*]} >/dev/null; fi
work="$(mktemp -d)"
chmod 755 "$work"
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$work"' EXIT
# The package and its libraries are extracted, since their installation starts a server.
mkdir -p "$work/archives/partial" "$work/root"
apt-get update -qq
apt-get install -y -qq --download-only --reinstall --no-install-recommends -o APT::Sandbox::User=root -o Debug::NoLocking=1 \
    -o "Dir::Cache::Archives=$work/archives" \
    varnish >/dev/null
for each in "$work"/archives/*.deb; do dpkg-deb -x "$each" "$work/root"; done
export PATH="$PATH:$work/root/usr/sbin:$work/root/usr/bin"
export LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu:$work/root/usr/lib/x86_64-linux-gnu/varnish"
read -r origin front < <(python3 -c 'import socket as s
a, b = s.create_server(("127.0.0.1", 0)), s.create_server(("127.0.0.1", 0)); print(a.getsockname()[1], b.getsockname()[1])')
mkdir "$work/pages"
seq 1 20000 >"$work/pages/file.bin"
cat >"$work/nginx.conf" <<CONF
daemon off; master_process off; pid $work/pid; error_log $work/error.log; events { }
http { access_log off; client_body_temp_path $work/1; proxy_temp_path $work/2; fastcgi_temp_path $work/3; uwsgi_temp_path $work/4;
scgi_temp_path $work/5; server { listen 127.0.0.1:$origin; root $work/pages; } }
CONF
cat >"$work/default.vcl" <<VCL
vcl 4.1;
backend origin { .host = "127.0.0.1"; .port = "$origin"; }
sub vcl_recv { return (pass); }
VCL
nginx -e "$work/error.log" -c "$work/nginx.conf" &
varnishd -F -a "127.0.0.1:$front" -f "$work/default.vcl" -n "$work/state" -s malloc,16m -j none >/dev/null 2>&1 &
for port in "$origin" "$front"; do
    for _ in $(seq 200); do if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi; sleep 0.1; done
done
range() { curl -s -o /dev/null -r "$2" -w '%{http_code} %{content_type}' "http://127.0.0.1:$1/file.bin"; }
direct="$(range "$origin" 0-9,100-109)" one="$(range "$front" 0-9)" several="$(range "$front" 0-9,100-109)"
varnishd -V 2>&1 | sed -n 1p
echo "several ranges, from the origin: $direct"
echo "one range, by Varnish:           $one"
echo "several ranges, by Varnish:      $several"
[[ "$direct" == "206 multipart/byteranges"* && "$one" == 206* && "$several" == 503* ]] || { echo "this has changed" >&2; exit 1; }
