"""Two network namespaces with a link between them: one for the service, one for the other machines.

They have no names and no processes of their own, so they end with this process in any case.
"""

import contextlib
import ctypes
import os
import subprocess

CLONE_NEWNET = 0x40000000  # <sched.h>
#: The service's address, and the number of other addresses on the link.
SERVICE = "10.77.0.1"
OTHERS = [f"10.77.0.{number}" for number in range(2, 22)]

libc = ctypes.CDLL(None, use_errno=True)


def ip(*words):
    """Runs ip(8) in the namespace of this thread."""
    subprocess.run(["ip", *words], check=True)


def system_call(name, *arguments):
    """Calls a function of the C library that returns 0 on success."""
    if getattr(libc, name)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")


class Namespace:
    """A new network namespace. It becomes this thread's. Sockets belong to the namespace of their creation."""

    def __init__(self):
        system_call("unshare", CLONE_NEWNET)
        self.descriptor = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        ip("link", "set", "lo", "up")

    @property
    def path(self):
        """The namespace's path for other processes."""
        return f"/proc/{os.getpid()}/fd/{self.descriptor}"

    def enter(self):
        """Makes it the namespace of this thread."""
        system_call("setns", self.descriptor, CLONE_NEWNET)


class Network:
    """The two namespaces. Code outside `others()` is in the service's."""

    def __init__(self):
        self.away = Namespace()
        self.home = Namespace()
        ip("link", "add", "home", "type", "veth", "peer", "name", "away", "netns", self.away.path)
        ip("address", "add", f"{SERVICE}/24", "dev", "home")
        ip("link", "set", "home", "up")
        with self.others():
            for address in OTHERS:
                ip("address", "add", f"{address}/24", "dev", "away")
            ip("link", "set", "away", "up")

    @contextlib.contextmanager
    def others(self):
        """Moves this thread, and those that it starts, to the other machines' namespace."""
        self.away.enter()
        try:
            yield
        finally:
            self.home.enter()

    def place(self, address, block=None):
        """Gives the others an address behind a router, with its block, like the Internet."""
        with self.others():
            ip("address", "add", f"{address}/32", "dev", "lo")
        ip("route", "add", block or f"{address}/32", "via", OTHERS[0])
