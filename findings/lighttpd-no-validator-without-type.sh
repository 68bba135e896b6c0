#!/usr/bin/env bash
# lighttpd 1.4.69 (Debian 12). A file whose name has no entry in `mimetype.assign` is sent without ETag and Last-Modified, though with
# `Accept-Ranges: bytes`. A copy of it whose name has an entry has both. So the table of media types decides whether a download can be
# resumed safely, and a client with an old copy always fetches the whole again.
#
# A good guess: validators are made of the file's inode, length and date, and not of its name.
set -euo pipefail
export PATH="$PATH:/usr/sbin"
missing=()
for each in lighttpd curl; do dpkg-query -W "$each" >/dev/null 2>&1 || missing+=("$each"); done
if [ ${#missing[@]} -gt 0 ]; then apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; fi
work="$(mktemp -d)"
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$work"' EXIT
port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
mkdir "$work/root"
seq 1 20000 | tee "$work/root/disk.iso" >"$work/root/disk.qcow2"
touch -d '2 hours ago' "$work/root"/disk.*
cat >"$work/conf" <<CONF
server.document-root = "$work/root"
server.bind = "127.0.0.1"
server.port = $port
mimetype.assign = (".iso" => "application/x-iso9660-image")
CONF
lighttpd -D -f "$work/conf" 2>/dev/null &
for _ in $(seq 100); do if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi; sleep 0.1; done
fields() { curl -sI "http://127.0.0.1:$port/$1" | tr -d '\r' | tr 'A-Z' 'a-z' | sed -n 's/^\(accept-ranges\|etag\|last-modified\|content-type\):.*/\1/p' | sort | paste -sd ' '; }
with="$(fields disk.iso)" without="$(fields disk.qcow2)"
lighttpd -v | sed -n 1p
echo "disk.iso has:   $with"
echo "disk.qcow2 has: $without"
[ "$with" = "accept-ranges content-type etag last-modified" ] && [ "$without" = "accept-ranges content-type" ] || { echo "this has changed" >&2; exit 1; }
