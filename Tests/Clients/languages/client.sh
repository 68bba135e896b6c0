#!/usr/bin/env bash
# The job with programs for the command line.
set -euo pipefail
# Lengths count bytes.
export LC_ALL=C
tool="$1" base="$2" body="$3" text="$4" out="$5"
json='Content-Type: application/json'
authority="${base#http://}"
host="${authority%:*}" port="${authority##*:}"

# Writes a request and closes the writing side, or keeps it open; prints the response without its head.
send() {
    local head="$1 HTTP/1.1\r\nHost: $authority\r\nConnection: close\r\n"
    [ -z "${2:-}" ] || head+="$json\r\nContent-Length: ${#2}\r\n"
    if [ "$tool" = nc ]; then
        printf "$head\r\n%s" "${2:-}" | nc -N "$host" "$port"
    else
        exec 3<>"/dev/tcp/$host/$port"
        printf "$head\r\n%s" "${2:-}" >&3
        cat <&3
    fi | sed -u '1,/^\r$/d'
}

case "$tool" in
curl) post() { curl -sS -H "$json" -d "$2" "$1"; } && get() { curl -sSN "$1"; } ;;
wget) post() { wget -q -O - --header "$json" --post-data "$2" "$1"; } && get() { wget -q -O - "$1"; } ;;
# It writes no body of a 201.
wget2) post() { wget2 -q --header "$json" --post-data "$2" "$1" && get "$1?q=$text"; } && get() { wget2 -q -O - "$1"; } ;;
busybox) post() { busybox wget -q -O - --header "$json" --post-data "$2" "$1"; } && get() { busybox wget -q -O - "$1"; } ;;
lynx) post() { curl -sS -d "$2" -H "$json" "$1"; } && get() { lynx -source "$1"; } ;;
links) post() { curl -sS -d "$2" -H "$json" "$1"; } && get() { links -source "$1"; } ;;
w3m) post() { w3m -dump_source -header "$json" -post <(printf %s "$2") "$1"; } && get() { w3m -dump_source "$1"; } ;;
httpie) post() { printf %s "$2" | http --body "$1" "$json"; } && get() { http --body --ignore-stdin "$1"; } ;;
nc | bash) post() { send "POST ${1#"$base"}" "$2"; } && get() { send "GET ${1#"$base"}"; } ;;
esac

id="$(post "$base/downloads" "$body" | sed -E 's/^\{("items":\[\{)?"id":"([^"]*)".*/\2/')"
case "$tool" in
curl | nc | bash) get "$base/downloads/$id/events" 2>/dev/null | sed '/"state":"completed"/q' >/dev/null || true ;;
*) until get "$base/downloads?q=$text" | grep -q '"state":"completed"'; do sleep 0.1; done ;;
esac
get "$base/downloads/$id/file/$text" >"$out"
