#!/usr/bin/env bash
# Tornado 6.6.1 (PyPI). The strong ETag of `StaticFileHandler` is the SHA-512 of the content, but of the content at the first request of
# the process. After the file is replaced by one with another date and length, the new bytes have the tag of the old ones, and
# `If-None-Match` with it gets 304: a client that has the old file is told that it is current.
#
# A good guess: a tag that is a digest of the bytes changes with the bytes.
set -euo pipefail
work="$(mktemp -d)"
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check tornado==6.6.1
mkdir "$work/root"
cat >"$work/serve.py" <<'PYTHON'
import asyncio, sys, tornado.httpserver, tornado.netutil, tornado.web
async def main():
    application = tornado.web.Application([("/(.*)", tornado.web.StaticFileHandler, {"path": sys.argv[1]})])
    sockets = tornado.netutil.bind_sockets(0, "127.0.0.1")
    tornado.httpserver.HTTPServer(application).add_sockets(sockets)
    print(sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
PYTHON
"$work/venv/bin/python" "$work/serve.py" "$work/root" >"$work/port" &
until [ -s "$work/port" ]; do sleep 0.1; done
url="http://127.0.0.1:$(cat "$work/port")/file.bin"
tag() { curl -sI "$url" | tr -d '\r"' | sed -n 's/^[Ee]tag: //p'; }

seq 1 20000 >"$work/root/file.bin"
touch -d '2 hours ago' "$work/root/file.bin"
old="$(tag)" first="$(sha512sum <"$work/root/file.bin")"
seq 5 30000 >"$work/new" && touch -d '1 hour ago' "$work/new" && mv "$work/new" "$work/root/file.bin"
new="$(tag)" second="$(sha512sum <"$work/root/file.bin")" body="$(curl -s "$url" | sha512sum)"
status="$(curl -s -o /dev/null -w '%{http_code}' -H "If-None-Match: \"$old\"" "$url")"

echo "tornado $("$work/venv/bin/python" -c 'import tornado; print(tornado.version)')"
echo "tag before: ${old:0:16}… (SHA-512 of the file: ${first:0:16}…)"
echo "tag after:  ${new:0:16}… (SHA-512 of the file: ${second:0:16}…)"
echo "the body is the new file: $([ "$body" = "$second" ] && echo yes || echo no); If-None-Match with the old tag: $status"
[ "$old" = "${first%% *}" ] && [ "$new" = "$old" ] && [ "$body" = "$second" ] && [ "$status" = 304 ] || { echo "this has changed" >&2; exit 1; }
