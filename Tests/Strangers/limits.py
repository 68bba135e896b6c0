"""A limit of memory: a control group for the service."""

import contextlib
import os
import pathlib

#: The names of a group's files in versions 1 and 2. The one for swap is missing if swap is not counted.
FILES = {
    1: {"limit": "memory.limit_in_bytes", "swap": "memory.memsw.limit_in_bytes", "peak": "memory.max_usage_in_bytes"},
    2: {"limit": "memory.max", "swap": "memory.swap.max", "peak": "memory.peak"},
}


class MemoryGroup:
    """A control group whose processes have this number of bytes together, and no swap."""

    def __init__(self, path, version, limit):
        self.path, self.version = path, version
        self.path.mkdir()
        try:
            # `write_text` would create a missing file if this is no control group.
            with self.file("limit").open("r+") as file:
                file.write(str(limit))
            if self.file("swap").exists():
                # Version 1 counts memory and swap together.
                self.file("swap").write_text(str(limit if version == 1 else 0))
        except OSError:
            self.path.rmdir()
            raise

    def file(self, name):
        """The path of one of its files."""
        return self.path / FILES[self.version][name]

    def enter(self):
        """Moves this process into the group."""
        self.path.joinpath("cgroup.procs").write_text("0")

    def peak(self):
        """The peak so far, in bytes; `None` if the kernel does not report it."""
        with contextlib.suppress(FileNotFoundError):
            return int(self.file("peak").read_text())


def places():
    """Directories in which a memory group may be created, and the version: in this process's group, beside it, and at the top."""
    own = {}
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        own |= {controller: path.lstrip("/") for controller in controllers.split(",")}
    for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
        _, top, kind, options, *_ = line.split()
        if kind == "cgroup2":
            version, controller = 2, ""
        elif kind == "cgroup" and "memory" in options.split(","):
            version, controller = 1, "memory"
        else:
            continue
        inside = pathlib.Path(top, own.get(controller, ""))
        yield from ((place, version) for place in (inside, inside.parent, pathlib.Path(top)))


@contextlib.contextmanager
def memory_group(limit):
    """A memory group, removed at the end; `None` if none can be created."""
    group = None
    for place, version in places():
        with contextlib.suppress(OSError):
            group = MemoryGroup(place / f"pawl-strangers-{os.getpid()}", version, limit)
            break
    try:
        yield group
    finally:
        if group:
            group.path.rmdir()
