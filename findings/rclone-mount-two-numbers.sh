#!/usr/bin/env bash
# rclone mount 1.60.1 (Debian bookworm) with --vfs-cache-mode writes: after a rename, a file has two inode numbers at the same time, one by its
# name and one by an open descriptor, and its modification time changes some seconds after the file was closed, without any write.
#
# POSIX has st_ino as the file's serial number, which identifies it together with st_dev. Programs compare the status of a path with the status of
# a descriptor to find out whether a file was replaced (tail -F, logrotate, mail readers), or a recorded time to find out whether it was
# changed (rsync, make, indexes of media servers). Here each of them sees a change of an unchanged file. --use-server-modtime and
# --no-modtime are not given; the remote is a local directory, which keeps times in nanoseconds.
#
# Installs rclone from Debian; needs root and /dev/fuse. Status 1 if the behaviour has changed.
set -euo pipefail
version='1.60.1+dfsg-2+b5'
dpkg-query -W -f '${Version}' rclone 2>/dev/null | grep -qxF "$version" || {
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "rclone=$version" fuse3 >/dev/null
}
work="$(mktemp -d)"
trap 'umount -l "$work/mounted" 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir "$work/base" "$work/mounted"
rclone mount "$work/base" "$work/mounted" --daemon --vfs-cache-mode writes --config "$work/conf" --cache-dir "$work/cache" 2>/dev/null
printf 'rclone %s\n' "$version"
output="$(python3 - "$work/mounted" <<'PYTHON'
import os, sys, time
os.chdir(sys.argv[1])
file = os.open("first", os.O_RDWR | os.O_CREAT, 0o600)
os.write(file, bytes(1 << 20))
os.fsync(file)
same = lambda: os.fstat(file).st_ino == os.stat("first" if os.path.exists("first") else "second").st_ino
print("same number before the rename:", same())
os.rename("first", "second")
print("same number after the rename:", same())
os.close(file)
closed = os.stat("second").st_mtime_ns
until = time.monotonic() + 20
while os.stat("second").st_mtime_ns == closed and time.monotonic() < until:
    time.sleep(0.1)
print("same time after the close:", os.stat("second").st_mtime_ns == closed)
PYTHON
)"
printf '%s\n' "$output"
# Seen on 2026-11-28:
#   same number before the rename: True
#   same number after the rename: False
#   same time after the close: False
[ "$output" = $'same number before the rename: True\nsame number after the rename: False\nsame time after the close: False' ]
