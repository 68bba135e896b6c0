#!/usr/bin/env bash
# MPD 0.23.12 (Debian 12) loads a podcast's feed as a playlist. An item without an enclosure is no entry, but its title becomes the title of
# the next entry. So the episode after a text post is shown under the title of the post.
#
# A good guess: an item without a file is left out, title and all.
set -euo pipefail
missing=()
for each in mpd mpc python3; do command -v "$each" >/dev/null || missing+=("$each"); done
if [ ${#missing[@]} -gt 0 ]; then apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; fi
work="$(mktemp -d)"
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cat >"$work/server.py" <<'PYTHON'
import http.server


def item(title, file=None):
    enclosure = f"<enclosure url='http://127.0.0.1:9/{file}' length='1000' type='audio/mpeg'/>" if file else ""
    return f"<item><title>{title}</title>{enclosure}</item>"


ITEMS = item("Episode 1", "one.mp3") + item("A post") + item("Episode 2", "two.mp3") + item("Episode 3", "three.mp3")
FEED = f"<?xml version='1.0'?><rss version='2.0'><channel><title>Show</title>{ITEMS}</channel></rss>".encode()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/rss+xml")
        self.send_header("Content-Length", str(len(FEED)))
        self.end_headers()
        self.wfile.write(FEED)

    def log_message(self, *arguments):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
PYTHON
python3 "$work/server.py" >"$work/port" &
for _ in $(seq 100); do if [ -s "$work/port" ]; then break; fi; sleep 0.1; done
mkdir "$work/music" "$work/playlists"
cat >"$work/mpd.conf" <<CONFIGURATION
music_directory "$work/music"
playlist_directory "$work/playlists"
db_file "$work/database"
bind_to_address "$work/socket"
audio_output {
    type "null"
    name "none"
}
CONFIGURATION
export MPD_HOST="$work/socket" no_proxy=127.0.0.1
mpd --no-daemon "$work/mpd.conf" >"$work/log" 2>&1 &
for _ in $(seq 100); do if mpc status >/dev/null 2>&1; then break; fi; sleep 0.1; done
timeout 20 mpc load "http://127.0.0.1:$(cat "$work/port")/feed.xml" >/dev/null
dpkg-query -W mpd mpc
shown="$(timeout 20 mpc playlist -f '%file% %title%' | sed 's|.*/||')"
echo "$shown"
[ "$shown" = $'one.mp3 Episode 1\ntwo.mp3 A post\nthree.mp3 Episode 3' ] || { echo "this has changed" >&2; exit 1; }
