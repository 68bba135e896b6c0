"""Working directories in a directory that several users share. One user is hostile.

Only root can run programs as other users. Without root these tests are skipped with a message.
"""

import contextlib
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile

from service import PATIENCE, SHELF, fetch, wait
from tests_get import entity, plain_environment

VICTIM, STRANGER = 23456, 12345


class Shared:
    """A directory that all users may write to, the program in a readable directory, and a key of the victim."""

    def __init__(self, directory, mode):
        self.top = pathlib.Path(directory)
        self.path = self.top / "shared"
        self.home = self.top / "home"
        self.top.chmod(0o755)
        self.path.mkdir()
        self.path.chmod(mode)
        self.home.mkdir()
        self.key = self.home / "key"
        self.key.write_text("secret")
        self.key.chmod(0o600)
        for path in (self.home, self.key):
            os.chown(path, VICTIM, VICTIM)
        self.program = shutil.copy(os.environ["PAWL_BINARY"], self.top / "pawl")

    def run(self, user, *command, **more):
        return subprocess.run(command, cwd=self.path, user=user, group=user, extra_groups=[], env=plain_environment(),
                              capture_output=True, text=True, timeout=PATIENCE, **more)

    def stranger(self, script):
        """Runs a script of the hostile user in the shared directory; `$1` is the victim's key."""
        answer = self.run(STRANGER, "sh", "-ec", script, "sh", str(self.key))
        assert answer.returncode == 0, answer

    def pawl(self, *arguments):
        """Runs the program as the victim."""
        return self.run(VICTIM, str(self.program), *arguments)

    def start(self, *arguments):
        return subprocess.Popen([str(self.program), *arguments], cwd=self.path, user=VICTIM, group=VICTIM, extra_groups=[],
                                env=plain_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def check_key(self):
        status = self.key.lstat()
        assert stat.S_IMODE(status.st_mode) == 0o600 and status.st_uid == VICTIM, status
        assert self.key.read_text() == "secret"


@contextlib.contextmanager
def shared(mode):
    if os.geteuid() != 0:
        print("skipped: only root can run programs as other users")
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="pawl-shared-", dir=SHELF) as directory:
        place = Shared(directory, mode)
        yield place
        place.check_key()


def refused(answer, said):
    assert answer.returncode == 2, answer
    assert answer.stdout == "" and answer.stderr.count("\n") == 1 and said in answer.stderr, answer


def strangers_directories_are_refused(fixture):
    with shared(0o1777) as place:
        if place is None:
            return
        commands = {
            ".pawl-get": [("get", entity(fixture, 1000))],
            "pawl-data": [("serve", "--port", "0"), ("check",), ("check", "--repair"), ("backup", str(place.home / "copy"))],
            "pawl-demo": [("demo", "--port", "0")],
        }
        theirs = "belongs to another user (12345)"
        for name, lines in commands.items():
            for script, said in [
                (f"umask 0; mkdir -p {name}/files {name}/incomplete; touch {name}/pawl.sqlite; ln -s $1 {name}/upstream-port.new", theirs),
                (f"mkdir -m 700 {name}", theirs),
                (f"ln -s \"$(dirname $1)\" {name}", theirs),
                (f"ln -s \"$1\" {name}", theirs),
                (f"ln -s nowhere {name}", theirs),
                (f"touch {name}", theirs),
                (f"mkfifo -m 666 {name}", theirs),
            ]:
                place.stranger(script)
                before = sorted(path.relative_to(place.path) for path in place.path.rglob("*"))
                for line in lines:
                    refused(place.pawl(*line), said)
                    place.check_key()
                assert sorted(path.relative_to(place.path) for path in place.path.rglob("*")) == before, script
                assert sorted(os.listdir(place.home)) == ["key"], os.listdir(place.home)
                place.stranger(f"rm -rf {name}")
            # The victim's own directory, but writable for others.
            for mode in ("0777", "0770", "1777"):
                answer = place.run(VICTIM, "sh", "-ec", f"umask 0; mkdir {name}; chmod {mode} {name}")
                assert answer.returncode == 0, answer
                for line in lines:
                    refused(place.pawl(*line), "other users may write to")
                assert place.run(VICTIM, "rmdir", name).returncode == 0


def strangers_files_are_not_replaced(fixture):
    with shared(0o1777) as place:
        if place is None:
            return
        url = entity(fixture, 1000, seed=81)
        place.stranger("ln -s $1 entity; ln -s $1 mine.bin; echo theirs > plain.bin")
        answer = place.pawl("get", url)
        assert answer.returncode == 0 and "saved entity (2)" in answer.stdout, answer
        saved = place.path / "entity (2)"
        assert not saved.is_symlink() and saved.read_bytes() == fetch(url)
        # In a sticky directory, only root could replace them.
        for name in ("mine.bin", "plain.bin"):
            answer = place.pawl("get", "-o", name, url)
            assert answer.returncode == 1 and "Operation not permitted" in answer.stderr, answer
            place.check_key()
        assert (place.path / "plain.bin").read_text() == "theirs\n"
        answer = place.run(0, str(place.program), "get", "-o", "mine.bin", url)
        assert answer.returncode != 0 or (place.path / "mine.bin").read_bytes() == fetch(url), answer
        place.check_key()


def strangers_gain_nothing_by_exchanging_a_directory(fixture):
    # Without the sticky bit, a hostile user may rename files of others.
    with shared(0o777) as place:
        if place is None:
            return
        url = entity(fixture, 2_000_000, seed=82, pace=700_000)
        child = place.start("get", "-o", "out.bin", url)
        try:
            wait(lambda: list(place.path.glob(".pawl-get/incomplete/*")), "a partial file")
            place.stranger("mv .pawl-get taken; umask 0; mkdir -p .pawl-get/files .pawl-get/incomplete; ln -s $1 .pawl-get/files/entity;"
                           " ln -s $1 .pawl-get/pawl.sqlite-wal; echo wrong > .pawl-get/pawl.sqlite; ln -s $1 out.bin")
            theirs = sorted(path.relative_to(place.path) for path in place.path.rglob(".pawl-get/**/*"))
            output, errors = child.communicate(timeout=PATIENCE)
        finally:
            child.kill()
            child.wait()
        assert child.returncode == 0 and "saved out.bin" in output, (output, errors)
        saved = place.path / "out.bin"
        assert not saved.is_symlink() and saved.read_bytes() == fetch(url.split("&pace")[0])
        assert sorted(path.relative_to(place.path) for path in place.path.rglob(".pawl-get/**/*")) == theirs
        assert os.listdir(place.path / "taken") == []


TESTS = [
    strangers_directories_are_refused, strangers_files_are_not_replaced, strangers_gain_nothing_by_exchanging_a_directory,
]
