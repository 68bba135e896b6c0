#!/usr/bin/env bash
# sshfs 3.7.3 with OpenSSH 9.2 (Debian bookworm): a name that is too long for the server's file system is EBADMSG, "Bad message", and not
# ENAMETOOLONG.
#
# OpenSSH's SFTP server reports ENAMETOOLONG as SSH_FX_BAD_MESSAGE ("a badly formatted packet or protocol incompatibility" in the protocol),
# which sshfs turns into EBADMSG. On ext4, XFS and btrfs, EBADMSG means a wrong checksum on the disk (EFSBADCRC). So a program that cuts a
# name after ENAMETOOLONG does not do so here, and one that knows EFSBADCRC reports a damaged disk.
#
# Installs sshfs and openssh-server from Debian; needs root and /dev/fuse. Status 1 if the behaviour has changed.
set -euo pipefail
sshfs=3.7.3-1.2~deb12u1
if [ "$(dpkg-query -W -f '${Version}' sshfs 2>/dev/null)" != "$sshfs" ] || [ ! -x /usr/sbin/sshd ]; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "sshfs=$sshfs" openssh-server >/dev/null
fi
work="$(mktemp -d)"
trap 'umount -l "$work/mounted" 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir -p "$work/served" "$work/mounted" /run/sshd
for name in key host; do ssh-keygen -q -N '' -t ed25519 -f "$work/$name"; done
cat >"$work/sshd" <<CONFIGURATION
HostKey $work/host
AuthorizedKeysFile $work/key.pub
StrictModes no
PermitRootLogin yes
UsePAM no
PidFile none
Subsystem sftp internal-sftp
CONFIGURATION
# The server runs on the standard input and output of the client's proxy command, so no port is used.
printf '#!/bin/sh\nexec /usr/sbin/sshd -i -f %s\n' "$work/sshd" >"$work/proxy"
chmod +x "$work/proxy"
sshfs -o "IdentityFile=$work/key,StrictHostKeyChecking=no,UserKnownHostsFile=/dev/null,ProxyCommand=$work/proxy,loglevel=quiet" \
    "root@localhost:$work/served" "$work/mounted"
printf 'sshfs %s, openssh-server %s\n' "$sshfs" "$(dpkg-query -W -f '${Version}' openssh-server)"
output="$(python3 - "$work" <<'PYTHON'
import errno, os, sys
for place in ["served", "mounted"]:
    try:
        open(os.path.join(sys.argv[1], place, "n" * 300), "w")
    except OSError as error:
        print(f"{place}: {errno.errorcode[error.errno]} - {error.strerror}")
PYTHON
)"
printf '%s\n' "$output"
# Seen on 2026-11-28:
#   served: ENAMETOOLONG - File name too long
#   mounted: EBADMSG - Bad message
[ "$output" = $'served: ENAMETOOLONG - File name too long\nmounted: EBADMSG - Bad message' ]
