#!/usr/bin/env bash
# WEBrick 1.8.1 (Debian 12). `If-Range` that holds is answered by 304 without the range. It holds only if the file's date has no fraction of
# a second: of another file the same request gets 206. And `If-Range` that does not hold gets 206 with the range of the other version.
#
# A good guess: 206 if it holds, 200 if it does not (RFC 9110, 13.1.5), and never 304.
set -euo pipefail
missing=()
for each in ruby ruby-webrick curl; do dpkg-query -W "$each" >/dev/null 2>&1 || missing+=("$each"); done
if [ ${#missing[@]} -gt 0 ]; then apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; fi
work="$(mktemp -d)"
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$work"' EXIT
mkdir "$work/root"
seq 1 20000 | tee "$work/root/whole-second.bin" >"$work/root/fraction.bin"
touch -d '2026-05-05 05:05:05Z' "$work/root/whole-second.bin"
touch -d '2026-05-05 05:05:05.5Z' "$work/root/fraction.bin"
ruby -rwebrick -e '$stdout.sync = true
server = WEBrick::HTTPServer.new(BindAddress: "127.0.0.1", Port: 0, DocumentRoot: ARGV[0], AccessLog: [], Logger: WEBrick::Log.new(nil, 0))
puts server.listeners[0].addr[1]
server.start' "$work/root" >"$work/port" 2>/dev/null &
until [ -s "$work/port" ]; do sleep 0.1; done
url="http://127.0.0.1:$(cat "$work/port")"
ask() { curl -s -o /dev/null -r 1000- -H "If-Range: $2" -w '%{http_code}, %{size_download} bytes' "$url/$1"; }
date='Tue, 05 May 2026 05:05:05 GMT'
whole="$(ask whole-second.bin "$date")" fraction="$(ask fraction.bin "$date")" other="$(ask whole-second.bin 'Mon, 04 May 2026 05:05:05 GMT')"
ruby -rwebrick -e 'puts "WEBrick #{WEBrick::VERSION}"'
echo "Last-Modified: $(curl -sI "$url/whole-second.bin" | tr -d '\r' | sed -n 's/^[Ll]ast-[Mm]odified: //p')"
echo "bytes=1000- with this date as If-Range, dated a whole second: $whole"
echo "the same of a file half a second later:                     $fraction"
echo "bytes=1000- with another date as If-Range:                  $other"
rest=$(($(stat -c %s "$work/root/fraction.bin") - 1000))
[ "$whole" = "304, 0 bytes" ] && [ "$fraction" = "206, $rest bytes" ] && [ "$other" = "206, $rest bytes" ] || { echo "this has changed" >&2; exit 1; }
