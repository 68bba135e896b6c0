"""File systems of Debian and of the kernel, each mounted below a directory of its own."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

#: Debian's packages with the programs that mount.
PACKAGES = {
    "mkfs.btrfs": "btrfs-progs", "mkfs.xfs": "xfsprogs", "mergerfs": "mergerfs", "sshfs": "sshfs", "/usr/sbin/sshd": "openssh-server",
    "bindfs": "bindfs", "unionfs": "unionfs-fuse", "securefs": "securefs", "cryfs": "cryfs", "rclone": "rclone",
}
PATIENCE = 30


def install():
    """Installs the missing packages."""
    missing = sorted({package for program, package in PACKAGES.items() if not shutil.which(program)})
    if missing:
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing], check=True,
                       stdout=subprocess.DEVNULL, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})


def allowed():
    """Whether this process may mount FUSE and loop file systems."""
    if os.geteuid() or not os.path.exists("/dev/fuse"):
        return False
    with tempfile.TemporaryDirectory() as place:
        if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place], stderr=subprocess.DEVNULL).returncode:
            return False
        subprocess.run(["umount", place], check=True)
    return subprocess.run(["losetup", "-f"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def run(*command, **options):
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options)


class Mount:
    """A file system at `path`, whose bytes are in `place`."""

    #: Whether a finished file keeps its number and its time.
    is_steady = True
    #: The seconds that the FUSE process has to end after it was unmounted.
    patience = PATIENCE

    def __init__(self, place):
        self.place = pathlib.Path(place)
        self.path = self.place / "mounted"
        for name in ["mounted", "a", "b"]:
            (self.place / name).mkdir()
        self.process = None
        self.prepare()
        self.mount()

    def prepare(self):
        pass

    def start(self, *command, environment=None):
        """Runs a FUSE process in the foreground, until the mount is there."""
        with open(self.place / "log", "ab") as log:
            self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env={**os.environ, **(environment or {})})
        until = time.monotonic() + PATIENCE
        while not os.path.ismount(self.path):
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{command[0]} does not mount: {(self.place / 'log').read_text()[-400:]}")
            time.sleep(0.02)

    def unmount(self):
        subprocess.run(["umount", "-l", self.path], stderr=subprocess.DEVNULL)
        if self.process:
            try:
                self.process.wait(self.patience)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None

    def kill(self):
        """Ends the FUSE process; the mount stays, and each call on it fails."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def remount(self):
        self.unmount()
        self.mount()

    def close(self):
        self.unmount()


class Loop(Mount):
    """A file system in a file."""

    size = 512 << 20

    def prepare(self):
        self.image = self.place / "image"
        with open(self.image, "wb") as file:
            file.truncate(self.size)
        run(*self.maker, self.image)

    def mount(self):
        run("mount", "-o", f"loop{self.options}", self.image, self.path)


class Btrfs(Loop):
    maker, options = ["mkfs.btrfs", "-q"], ""


class XFS(Loop):
    maker, options = ["mkfs.xfs", "-q"], ""


class Overlay(Mount):
    def prepare(self):
        # The upper directory must not be on an overlay.
        run("mount", "-t", "tmpfs", "tmpfs", self.place / "a")
        for name in ["lower", "upper", "work"]:
            (self.place / "a" / name).mkdir()

    def mount(self):
        a = self.place / "a"
        run("mount", "-t", "overlay", "overlay", "-o", f"lowerdir={a}/lower,upperdir={a}/upper,workdir={a}/work", self.path)

    def close(self):
        super().close()
        run("umount", "-l", self.place / "a")


class MergerFS(Mount):
    def mount(self):
        self.start("mergerfs", "-f", f"{self.place}/a:{self.place}/b", self.path)


class BindFS(Mount):
    def mount(self):
        self.start("bindfs", "-f", self.place / "a", self.path)


class UnionFS(Mount):
    def mount(self):
        self.start("unionfs", "-f", "-o", "cow", f"{self.place}/a=RW:{self.place}/b=RO", self.path)


class SecureFS(Mount):
    def prepare(self):
        run("securefs", "create", self.place / "a", "--pass", "secret", "--config", self.place / "conf")

    def mount(self):
        self.start("securefs", "mount", self.place / "a", self.path, "--config", self.place / "conf", "--pass", "secret")


class CryFS(Mount):
    def mount(self):
        environment = {**os.environ, "CRYFS_FRONTEND": "noninteractive", "CRYFS_NO_UPDATE_CHECK": "true", "HOME": str(self.place)}
        run("cryfs", self.place / "a", self.path, input=b"secret\n", env=environment)


class SmallBtrfs(Btrfs):
    """A file system with room for one file of two."""

    size = 300 << 20


class RClone(Mount):
    # Uploads begin after the scene: a file that rclone 1.60 uploads after it was killed becomes empty when it is opened.
    options, is_steady = ["--vfs-cache-mode", "writes", "--vfs-write-back", "1m"], False
    # It does not end at times. What it has not uploaded by then is uploaded after the next mount.
    patience = 3

    def mount(self):
        self.start("rclone", "mount", self.place / "a", self.path, *self.options, "--cache-dir", self.place / "cache", "--config",
                   self.place / "conf")


class PlainRClone(RClone):
    options = []


class SSHFS(Mount):
    """A directory on a server of this machine, with a key of its own."""

    def prepare(self):
        os.makedirs("/run/sshd", exist_ok=True)
        for name in ["key", "host"]:
            run("ssh-keygen", "-q", "-N", "", "-t", "ed25519", "-f", self.place / name)
        (self.place / "sshd").write_text(
            f"HostKey {self.place}/host\nAuthorizedKeysFile {self.place}/key.pub\nStrictModes no\nPermitRootLogin yes\nUsePAM no\n"
            f"PidFile none\nSubsystem sftp internal-sftp\n")
        # sshd serves one connection on its standard input and output, as inetd's programs do. No port is needed.
        (self.place / "ssh").write_text(f"#!/bin/sh\nexec /usr/sbin/sshd -i -f {self.place}/sshd\n")
        (self.place / "ssh").chmod(0o755)

    def mount(self):
        self.start(
            "sshfs", "-f", "-o", f"IdentityFile={self.place}/key,StrictHostKeyChecking=no,UserKnownHostsFile=/dev/null",
            "-o", f"ProxyCommand={self.place}/ssh", f"root@localhost:{self.place}/a", self.path)


class SmallSSHFS(SSHFS):
    """A server whose disk is small."""

    def prepare(self):
        run("mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", self.place / "a")
        super().prepare()

    def close(self):
        super().close()
        run("umount", "-l", self.place / "a")
