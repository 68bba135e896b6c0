"""Tests that a silent address of a host does not keep the service from its other address."""

import contextlib

from cluster import CONTENT, Server, ended
from network import OTHERS, ip
from pawl import Pawl, ask, check
from service import wait

#: Public addresses of the host: no machine has the first one.
SILENT, LIVE = "93.184.215.20", "93.184.215.21"


def scene(network):
    """Downloads from a host's second address in the first attempt."""
    network.place(LIVE)
    ip("route", "add", f"{SILENT}/32", "via", OTHERS[0])
    with contextlib.ExitStack() as stack:
        with network.others():
            stack.enter_context(contextlib.closing(Server(LIVE)))
        hosts = f"{SILENT} two.example\n{LIVE} two.example\n"
        stack.enter_context(contextlib.closing(Pawl("--connect-timeout", "4s", hosts=hosts)))
        status, made = ask("POST", "/downloads", {"url": "http://two.example/file"})
        check(status == 201, f"the download is answered with {status}, not with 201: {made}")
        shown = wait(lambda: ended("/downloads/" + made["id"]), "the end of the download")
        found = shown["state"], shown["attempts"], shown["bytesReceived"]
        check(found == ("completed", 1, len(CONTENT)), f"state, attempts and bytes are {found}")
        print("   the second address in the first attempt")
