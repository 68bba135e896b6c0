#!/usr/bin/env bash
# inets 8.2.2, the HTTP server of Erlang/OTP 25 (Debian 12). Its `mod_range` writes `Content-Range: bytes=0-9/100`, as in a request, where
# responses have `bytes 0-9/100`. Its ETag has no quotes. So neither the place nor the version of its parts can be read by the rules.
#
# A good guess: a 206 names its range in the only form that RFC 9110, 14.4 has, and a tag is quoted (8.8.3).
set -euo pipefail
missing=()
for each in erlang-inets curl; do dpkg-query -W "$each" >/dev/null 2>&1 || missing+=("$each"); done
if [ ${#missing[@]} -gt 0 ]; then apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; fi
work="$(mktemp -d)"
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$work"' EXIT
mkdir "$work/root"
seq 1 20000 >"$work/root/file.bin"
HOME="$work" erl -noshell -eval "inets:start(), {ok, Pid} = inets:start(httpd, [{port, 0}, {bind_address, {127,0,0,1}},
    {server_name, \"localhost\"}, {server_root, \"$work\"}, {document_root, \"$work/root\"}, {modules, [mod_range, mod_get, mod_head]}]),
    [{port, Port}] = httpd:info(Pid, [port]), {ok, [{version, Version} | _]} = {ok, [{version, V} || {inets, _, V} <-
    application:which_applications()]}, io:format(\"~p ~s~n\", [Port, Version])." >"$work/port" 2>/dev/null &
until [ -s "$work/port" ]; do sleep 0.1; done
read -r port version <"$work/port"
part="$(curl -s -o /dev/null -r 100-199 -w '%{http_code}, Content-Range: %header{content-range}, ETag: %header{etag}' "http://127.0.0.1:$port/file.bin")"
echo "inets $version"
echo "bytes=100-199: $part"
size="$(stat -c %s "$work/root/file.bin")"
[[ "$part" == "206, Content-Range: bytes=100-199/$size, ETag: "[!\"W]* ]] || { echo "this has changed" >&2; exit 1; }
