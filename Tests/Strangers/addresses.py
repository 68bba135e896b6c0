"""Tests that an address of a host that is silent, or that the host no longer has, does not keep the service from its other address."""

import contextlib
import pathlib

from cluster import CONTENT, Server, ended
from network import OTHERS, ip
from pawl import Pawl, ask, check
from service import wait

#: Public addresses of the host: no machine has the first one.
SILENT, LIVE, SECOND = "93.184.215.20", "93.184.215.21", "93.184.215.22"


def scene(network):
    """Downloads from a host's second address in the first attempt."""
    network.place(LIVE)
    ip("route", "add", f"{SILENT}/32", "via", OTHERS[0])
    with contextlib.ExitStack() as stack:
        with network.others():
            stack.enter_context(contextlib.closing(Server(LIVE)))
        hosts = f"{SILENT} two.example\n{LIVE} two.example\n"
        stack.enter_context(contextlib.closing(Pawl("--connect-timeout", "4s", hosts=hosts)))
        found = download("http://two.example/file")
        check(found == ("completed", 1, len(CONTENT)), f"state, attempts and bytes are {found}")
        print("   the second address in the first attempt")
    new_address(network)


def download(url):
    """Downloads a URL, and returns state, attempts and bytes in the end."""
    status, made = ask("POST", "/downloads", {"url": url, "onDuplicate": "new"})
    check(status == 201, f"the download is answered with {status}, not with 201: {made}")
    shown = wait(lambda: ended("/downloads/" + made["id"]), "the end of the download")
    return shown["state"], shown["attempts"], shown["bytesReceived"]


def new_address(network):
    """Downloads from a host that has another address after the first download, within the minute that libcurl keeps one."""
    network.place(SECOND)
    with contextlib.ExitStack() as stack:
        pawl = stack.enter_context(contextlib.closing(Pawl(hosts=f"{LIVE} moved.example\n")))
        with network.others():
            first = Server(LIVE)
        try:
            found = download("http://moved.example/file")
        finally:
            first.close()
        check(found == ("completed", 1, len(CONTENT)), f"at the first address, state, attempts and bytes are {found}")
        with network.others():
            stack.enter_context(contextlib.closing(Server(SECOND)))
        pathlib.Path(pawl.directory, "hosts").write_text(f"{SECOND} moved.example\n")
        found = download("http://moved.example/file")
        check(found == ("completed", 2, len(CONTENT)), f"at the new address, state, attempts and bytes are {found}")
        print("   a new address in the second attempt")
