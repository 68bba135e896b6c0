#!/usr/bin/env bash
# CryFS 0.11.3 (Debian bookworm): link(2) fails with ERANGE, "Numerical result out of range", on an ordinary file with ordinary names.
#
# A file system without hard links is expected to report EPERM (link(2): "The filesystem containing oldpath and newpath does not support the
# creation of hard links") or EOPNOTSUPP, and programs go on with a copy or a rename then. ERANGE is not among the errors of link(2), so
# programs that look for those give up: `cp -l` does, and so did ours.
#
# Installs cryfs from Debian; needs root and /dev/fuse. Status 1 if the behaviour has changed.
set -euo pipefail
version=0.11.3-5
dpkg-query -W -f '${Version}' cryfs 2>/dev/null | grep -qx "$version" || {
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "cryfs=$version" >/dev/null
}
work="$(mktemp -d)"
trap 'umount -l "$work/mounted" 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir "$work/base" "$work/mounted"
export CRYFS_FRONTEND=noninteractive CRYFS_NO_UPDATE_CHECK=true HOME="$work"
printf 'secret\n' | cryfs "$work/base" "$work/mounted" >/dev/null
printf 'cryfs %s\n' "$version"
printf 'text' >"$work/mounted/first"
output="$(python3 - "$work/mounted" <<'PYTHON'
import errno, os, sys
os.chdir(sys.argv[1])
try:
    os.link("first", "second")
    print("link: success")
except OSError as error:
    print("link:", errno.errorcode[error.errno], "-", error.strerror)
os.rename("first", "second")
print("rename: success")
PYTHON
)"
printf '%s\n' "$output"
# Seen on 2026-11-28:
#   link: ERANGE - Numerical result out of range
#   rename: success
[ "$output" = $'link: ERANGE - Numerical result out of range\nrename: success' ]
