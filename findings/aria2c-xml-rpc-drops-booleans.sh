#!/usr/bin/env bash
# aria2c 1.36.0 (Debian 12). A call by XML-RPC whose options have `pause` as a `boolean` is answered with a GID, as if it were understood, and
# the download is not paused. The same value as a `string` pauses it. JSON-RPC's `true` is left out as well.
#
# A good guess: Python's `True`, which xmlrpc.client sends as a `boolean`, does what "true" does, or is refused.
set -euo pipefail
missing=()
for each in aria2 python3; do command -v "${each/aria2/aria2c}" >/dev/null || missing+=("$each"); done
if [ ${#missing[@]} -gt 0 ]; then apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; fi
work="$(mktemp -d)"
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$work"' EXIT
port="$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')"
aria2c --no-conf --enable-rpc --rpc-listen-port="$port" --max-concurrent-downloads=9 --dir="$work" --quiet &
aria2c --version | head -1
python3 - "$port" <<'PYTHON'
import json
import sys
import time
import urllib.request
import xmlrpc.client

port = sys.argv[1]
xml = xmlrpc.client.ServerProxy(f"http://127.0.0.1:{port}/rpc").aria2


def json_rpc(method, *parameters):
    call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/jsonrpc", json.dumps(call).encode())
    with urllib.request.urlopen(request) as response:
        return json.load(response)["result"]


until = time.monotonic() + 20
while True:
    try:
        xml.getVersion()
        break
    except OSError:
        if time.monotonic() > until:
            raise
        time.sleep(0.1)
# Nothing listens there: a download that is not paused fails at once.
address = ["http://127.0.0.1:9/file"]
added = {
    "XML-RPC, boolean": xml.addUri(address, {"pause": True, "max-tries": "1"}),
    "XML-RPC, string": xml.addUri(address, {"pause": "true", "max-tries": "1"}),
    "JSON-RPC, true": json_rpc("aria2.addUri", address, {"pause": True, "max-tries": "1"}),
    "JSON-RPC, string": json_rpc("aria2.addUri", address, {"pause": "true", "max-tries": "1"}),
}
while True:
    states = {name: xml.tellStatus(gid, ["status"])["status"] for name, gid in added.items()}
    if set(states.values()) <= {"paused", "error"} or time.monotonic() > until:
        break
    time.sleep(0.1)
for name, state in states.items():
    print(f"pause as {name}: {state}")
if [state == "paused" for state in states.values()] != [False, True, False, True]:
    sys.exit("this has changed")
PYTHON
