#!/usr/bin/env bash
# podget 0.9.0 (Debian 12). Three episodes have addresses that differ in a folder and have the same last segment. It saves one file: the first
# episode, then the second without its first bytes, then the third without its first bytes. It ends with status 0.
#
# A good guess: the files get numbers, as in gPodder and Greg, or the last one replaces the others.
set -euo pipefail
missing=()
for each in podget wget python3; do command -v "$each" >/dev/null || missing+=("$each"); done
if [ ${#missing[@]} -gt 0 ]; then apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; fi
work="$(mktemp -d)"
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cat >"$work/server.py" <<'PYTHON'
import http.server

EPISODES = {f"/{number}/episode.mp3": str(number).encode() * 1000 * number for number in (1, 2, 3)}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = EPISODES.get(self.path)
        if body is None:
            items = "".join(
                f"<item><title>Episode {path[1]}</title><guid isPermaLink='false'>{path[1]}</guid>"
                f"<pubDate>Mon, 0{path[1]} Jun 2026 08:00:00 GMT</pubDate>"
                f"<enclosure url='http://{self.headers['Host']}{path}' length='{len(content)}' type='audio/mpeg'/></item>"
                for path, content in EPISODES.items())
            body = f"<?xml version='1.0'?><rss version='2.0'><channel><title>Show</title>{items}</channel></rss>".encode()
        begin = int(self.headers.get("Range", "bytes=0-")[6:-1])
        self.send_response(206 if begin else 200)
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(body) - 1}/{len(body)}")
        self.send_header("Content-Type", "audio/mpeg" if self.path in EPISODES else "application/rss+xml")
        self.send_header("Content-Length", str(len(body) - begin))
        self.end_headers()
        self.wfile.write(body[begin:])

    def log_message(self, *arguments):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
PYTHON
python3 "$work/server.py" >"$work/port" &
for _ in $(seq 100); do if [ -s "$work/port" ]; then break; fi; sleep 0.1; done
export HOME="$work" no_proxy=127.0.0.1
mkdir "$work/c"
echo "http://127.0.0.1:$(cat "$work/port")/feed.xml Category Show" >"$work/c/list"
# It accepts only a file of settings that it has made.
timeout 30 podget -d "$work/c" --create-config podgetrc >/dev/null 2>&1 || true
printf 'DIR_LIBRARY=%s/files\nCONFIG_SERVERLIST=list\n' "$work" >>"$work/c/podgetrc"
timeout 60 podget -d "$work/c" -n >/dev/null 2>&1 && status=0 || status=$?
dpkg-query -W podget wget
echo "status $status"
saved="$(cd "$work/files/Category/Show" && for file in *; do echo "$file: $(fold -w 1 "$file" | uniq -c | tr -s ' \n' ' ')"; done)"
echo "bytes of each episode in $saved"
[ "$saved" = "episode.mp3:  1000 1 1000 2 1000 3 " ] && [ "$status" = 0 ] || { echo "this has changed" >&2; exit 1; }
