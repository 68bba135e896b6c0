"""Tests pawl.js and its element in Chromium, behind a proxy; `main.py NAME…` runs only the tests whose name contains one of these."""

import contextlib
import hashlib
import os
import pathlib
import struct
import sys
import tempfile
import threading
import time
import traceback

from browser_session import BrowserSession
from servers import Proxy, Server, StaticHandler
from service import PATIENCE, Service, wait

HERE = pathlib.Path(__file__).resolve().parent
TOKEN = "a-token-of-the-clients"
FLAGS = ["--host-resolver-rules=MAP nas.test 127.0.0.1", "--autoplay-policy=no-user-gesture-required", "--mute-audio"]
PAGE = b'<!doctype html><html lang="en"><title>A page of another origin</title><script type="module" src="/page.js"></script></html>'
# Seconds of silence, in 8,000 bytes each: far more than a browser reads ahead.
SECONDS = 3000
SOUND = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + 8000 * SECONDS, b"WAVE", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8, b"data", 8000 * SECONDS)


class Setting:
    """A service behind a proxy, and a browser on pages of another origin. With `host` nas.test, the pages are not secure."""

    def __init__(self, host="127.0.0.1"):
        with contextlib.ExitStack() as stack:
            self.static = Server(StaticHandler, pages={
                "/page.html": PAGE, "/page.js": (HERE / "page.js").read_bytes(), **{name: SOUND + b"\x80" * (8000 * SECONDS) for name in ("/sound.wav", "/next.wav")}})
            stack.callback(self.static.close)
            self.origin = f"http://{host}:{self.static.server_port}"
            self.service = Service("--cors-origin", self.origin, "--allowed-host", "nas.test", "--allow-destination", "127.0.0.1", token=TOKEN)
            stack.callback(self.service.close)
            self.proxy = Proxy(self.service.port)
            stack.callback(self.proxy.close)
            self.url = self.proxy.url.replace("127.0.0.1", host)
            self.browser = stack.enter_context(BrowserSession(*FLAGS))
            self.tabs = []
            self.stack = stack.pop_all()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()

    def open(self, count=1, begins=True, token=TOKEN):
        """Opens tabs, which follow the service, and waits until they know the list."""
        for _ in range(count):
            self.tabs.append(self.browser.new_tab())
            self.browser.open(self.origin + "/page.html")
            wait(lambda: self.browser.run("return window.isReady === true"), "the page runs")
            if begins:
                self.browser.run("begin(...arguments)", self.url, token)

    def run(self, tab, script, *arguments):
        self.browser.switch(tab)
        return self.browser.run(script, *arguments)

    def wait(self, tab, script, what, *arguments):
        """Waits until an expression is true in a tab."""
        self.browser.switch(tab)
        return wait(lambda: self.browser.run("return " + script, *arguments), lambda: f"{what}; {self.browser.run('return [state(), histories]')}")

    def wait_all(self, script, what, *arguments):
        for tab in self.tabs:
            self.wait(tab, script, what, *arguments)

    def leader(self):
        """The only tab that reads the stream."""
        def found():
            leaders = [tab for tab in self.tabs if self.run(tab, "return leads()")]
            return leaders[0] if len(leaders) == 1 else None
        return wait(found, "one tab leads")

    def add(self, size=1000, **members):
        self.seed = getattr(self, "seed", 0) + 1
        return self.service.call("POST", "/downloads", {"url": f"{self.service.upstream}/entity?size={size}&seed={self.seed}", **members})["id"]

    def hear(self, what):
        """Adds a download, of whose end all tabs hear."""
        identity = self.add()
        self.wait_all("list?.find(({ id }) => id === arguments[0])?.state === 'completed'", f"the end of a download, {what}", identity)
        orders = [self.run(tab, "return histories[arguments[0]]", identity) for tab in self.tabs]
        for order in orders:
            assert order == sorted(order, key=["queued", "downloading", "completed"].index), f"out of order: {order}"

    def crash(self):
        """kill -9"""
        self.service.child.kill()
        self.service.child.wait()
        self.service.child.stdout.close()
        self.service.log.close()

    def compare(self):
        """All tabs have the list of the service."""
        expected = [(each["id"], each["state"]) for each in self.service.downloads()]
        for tab in self.tabs:
            wait(lambda: [tuple(each) for each in self.run(tab, "return list.map(({ id, state }) => [id, state])")] == expected, "the list")


def test_eight_tabs_share_a_stream():
    with Setting() as at:
        at.open(8)
        assert at.run(at.tabs[0], "return isSecureContext"), "127.0.0.1 is secure"
        at.wait_all("state() === 'online' && list?.length === 0", "online with an empty list")
        at.hear("at first")
        assert at.proxy.most == 1 and len(at.proxy.streams) == 1, at.proxy.requests
        # The tokens of tabs with another scope are not mixed; names of locks show no token.
        names = at.run(at.tabs[0], "return navigator.locks.query().then(({ held, pending }) => [...held, ...pending].map(({ name }) => name))")
        assert len(names) == 8 and len(set(names)) == 1 and TOKEN not in names[0], names

        # A closed leader: the next one continues, and no tab reads the list again.
        at.proxy.clear()
        leader = at.leader()
        at.browser.switch(leader)
        at.browser.close_tab()
        at.tabs.remove(leader)
        at.hear("after the leader was closed")
        streams = [each for each in at.proxy.requests if each[0] == "GET" and "/events" in each[1]]
        assert len(streams) == 1 and streams[0][2], streams
        assert at.proxy.count("/downloads") == 0, at.proxy.requests

        # A frozen leader passes the stream on; when it is back, it knows what it has missed.
        leader = at.leader()
        at.browser.switch(leader)
        at.browser.cdp("Page.setWebLifecycleState", state="frozen")
        at.tabs.remove(leader)
        at.hear("after the leader was frozen")
        at.browser.switch(leader)
        at.browser.cdp("Page.setWebLifecycleState", state="active")
        at.tabs.append(leader)
        at.hear("when the frozen tab is back")
        at.compare()

        # kill -9, and a start at the same port: one tab asks for all, and no list is read again.
        at.proxy.clear()
        removed = at.service.downloads()[0]["id"]
        at.crash()
        at.wait_all("state() === 'offline' || state() === 'connecting'", "offline")
        at.service.start()
        at.service.call("DELETE", "/downloads/" + removed)
        at.wait_all("state() === 'online'", "online again")
        at.hear("after a restart")
        at.compare()
        assert at.proxy.most == 1, at.proxy.requests


def test_blocked_leader_loses_the_stream():
    with Setting() as at:
        at.open(3)
        at.hear("at first")
        blocked, released = threading.Event(), threading.Event()

        def slow(handler):
            blocked.set()
            released.wait(2 * PATIENCE)
            handler.respond(200, b"")

        leader = at.leader()
        at.static.RequestHandlerClass.do_POST = slow
        # Later, since the driver waits for the tab that it has switched to.
        at.run(leader, "setTimeout(() => { const request = new XMLHttpRequest(); request.open('POST', '/slow', false); request.send(); }, 1000)")
        at.tabs.remove(leader)
        at.browser.switch(at.tabs[0])
        wait(blocked.is_set, "the leader is blocked")
        begin = time.monotonic()
        try:
            at.hear("while the leader is blocked")
            print(f"        taken over after {time.monotonic() - begin:.0f} s")
        finally:
            released.set()
        at.tabs.append(leader)
        at.hear("with the former leader")
        at.leader()
        wait(lambda: len(at.proxy.streams) == 1, "one stream")
        at.compare()


def test_without_locks_only_the_visible_tab_has_a_stream():
    with Setting("nas.test") as at:
        at.open(8)
        first, other = at.tabs[0], at.tabs[5]
        assert not at.run(first, "return isSecureContext") and not at.run(first, "return 'locks' in navigator"), "the page is not secure"

        def show(tab):
            at.browser.switch(tab)
            at.browser.cdp("Page.bringToFront")
            at.wait(tab, "!document.hidden", "the tab is visible")

        show(first)
        at.wait(first, "state() === 'online'", "the visible tab is online")
        wait(lambda: len(at.proxy.streams) == 1, lambda: f"one stream, not {len(at.proxy.streams)}")
        identity = at.add()
        at.wait(first, "list?.[0]?.state === 'completed'", "the visible tab hears")
        # The driver may show the tab that it asks.
        assert not at.run(other, "return document.hidden && list?.some(({ id }) => id === arguments[0])", identity), "a hidden tab hears"
        at.proxy.clear()
        show(other)
        at.wait(other, "list?.[0]?.id === arguments[0] && list[0].state === 'completed'", "it catches up", identity)
        wait(lambda: len(at.proxy.streams) == 1, lambda: f"one stream, not {len(at.proxy.streams)}")
        show(first)
        at.wait(first, "leads()", "the first is back")
        wait(lambda: any(each[2] for each in at.proxy.requests if "/events" in each[1]), "it continues after the last event")
        wait(lambda: len(at.proxy.streams) == 1, lambda: f"one stream, not {len(at.proxy.streams)}")
        at.crash()
        at.wait(first, "state() === 'offline'", "offline")
        at.service.start()
        last = at.add()
        at.wait(first, "list?.[0]?.id === arguments[0] && list[0].state === 'completed'", "after a restart", last)
        for tab in at.tabs:
            show(tab)
            at.wait(tab, "list?.[0]?.id === arguments[0]", "each tab that is shown", last)
        assert at.proxy.most <= 2, at.proxy.most


def test_refused_token_stops_all_tabs():
    with Setting() as at:
        at.open(3, token="another-token-altogether")
        at.wait_all("state() === 'stopped'", "stopped")
        error = at.run(at.tabs[0], "const { error } = statuses.at(-1); return [error instanceof PawlError, error.code, error.status]")
        assert error == [True, "unauthorized", 401], error
        count = len(at.proxy.requests)
        # As long as two attempts would take.
        time.sleep(2)
        assert len(at.proxy.requests) == count, at.proxy.requests[count:]


def test_media_continue_with_another_ticket():
    with Setting() as at:
        at.open(1)
        tab = at.tabs[0]
        sound = at.service.call("POST", "/downloads", {"url": f"http://127.0.0.1:{at.static.server_port}/sound.wav"})["id"]
        at.wait(tab, "list?.[0]?.state === 'completed'", "the sound is there")
        at.run(tab, "return play(arguments[0])", sound)
        at.wait(tab, "audio.currentTime > 0.2 && !audio.paused", "it plays")

        def void():
            """All tickets until now have expired."""
            with at.proxy.lock:
                at.proxy.void.update(path.split("ticket=")[1] for _, path, _ in at.proxy.requests if "ticket=" in path)

        def seek(position, what):
            source = at.run(tab, "return audio.src")
            at.run(tab, "audio.currentTime = arguments[0]", position)
            at.wait(tab, "audio.currentTime > arguments[0] + 0.2 && !audio.paused && audio.src !== arguments[1]", what, position, source)

        at.run(tab, "audio.playbackRate = 1.5")
        # Without the clock of stalls, only the error event can help.
        at.run(tab, "window.clock = setTimeout; window.setTimeout = (action, milliseconds) => milliseconds === 10_000 ? 0 : clock(action, milliseconds)")
        void()
        seek(2000, "it continues after a refusal that the page sees")
        at.run(tab, "window.setTimeout = clock")
        assert at.run(tab, "return audio.playbackRate") == 1.5
        at.proxy.shows_refusals = False
        void()
        seek(500, "it continues after a refusal that the page cannot see")
        at.proxy.shows_refusals = True
        at.crash()
        void()
        source = at.run(tab, "return audio.src")
        at.run(tab, "audio.currentTime = 2800")
        at.wait(tab, "state() === 'offline'", "offline")
        at.service.start()
        at.wait(tab, "audio.currentTime > 2800.2 && audio.src !== arguments[0]", "it continues after a restart", source)
        # Another file in the same element, also while the service is down.
        following = at.service.call("POST", "/downloads", {"url": f"http://127.0.0.1:{at.static.server_port}/next.wav"})["id"]
        at.wait(tab, "list?.find(({ id }) => id === arguments[0])?.state === 'completed'", "the next sound is there", following)
        plays = "audio.src.includes(arguments[0]) && !audio.paused && audio.currentTime > 0.2 && audio.currentTime < 400"
        at.run(tab, "next(arguments[0])", following)
        at.wait(tab, plays, "the next file plays from its beginning", following)
        at.run(tab, "audio.currentTime = 1000")
        at.crash()
        at.run(tab, "next(arguments[0])", sound)
        at.wait(tab, "state() === 'offline'", "offline")
        at.service.start()
        at.wait(tab, plays, "the file that was chosen meanwhile plays", sound)
        at.run(tab, "detach(); window.last = audio.src; audio.src = '/nothing.wav'")
        at.wait(tab, "audio.error !== null && audio.src !== last", "a detached element is left alone")


def test_element():
    with Setting() as at, tempfile.TemporaryDirectory(prefix="pawl-saved-") as saved:
        at.open(1, begins=False)
        tab = at.tabs[0]
        at.browser.cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=saved)
        small, large = at.add(), at.add(9_000_000, speedLimit=100_000)
        at.run(tab, """const element = document.createElement("pawl-downloads");
            for (const [name, value] of Object.entries(arguments[0])) element.setAttribute(name, value);
            document.body.append(element);""", {"src": at.url, "token": TOKEN})
        button = "shadow('[part~=downloading] [part=button], [part~=paused] [part=button]')"
        at.wait(tab, "parseFloat(shadow('[part~=downloading] [part=fill]')?.style.width) > 0 && shadow('[part~=completed]') !== null", "progress")
        label, display = at.run(tab, f"return [{button}.ariaLabel, getComputedStyle({button}.parentElement).display]")
        assert label.startswith("Pause ") and display == "flex", (label, display)
        # Focus survives, even while rows come and go.
        at.run(tab, f"window.button = {button}; button.focus(); button.click()")
        at.wait(tab, "button.textContent === 'Resume'", "paused")
        third = at.add(2000)
        at.wait(tab, "shadow('[part=list]').children.length === 3", "another row")
        assert at.run(tab, "return button === shadow('*').getRootNode().activeElement"), "the focus is lost"
        at.run(tab, "button.click()")
        at.wait(tab, "button.textContent === 'Pause'", "resumed")
        at.run(tab, "button.nextSibling.focus(); button.nextSibling.click()")
        at.wait(tab, "button.textContent === 'Retry' && button.nextSibling.hidden", "cancelled")
        assert at.run(tab, "return button === shadow('*').getRootNode().activeElement"), "the focus is lost"
        assert next(each["state"] for each in at.service.downloads() if each["id"] == large) == "cancelled"
        record = at.service.call("GET", "/downloads/" + small)
        at.run(tab, "[...document.querySelector('pawl-downloads').shadowRoot.querySelectorAll('button')].findLast(({ textContent }) => textContent === 'Save').click()")
        path = pathlib.Path(saved) / record["filename"]
        wait(path.exists, "the file is saved")
        assert hashlib.sha256(path.read_bytes()).hexdigest() == record["sha256"]
        at.service.call("DELETE", "/downloads/" + third)
        at.wait(tab, "shadow('[part=list]').children.length === 2", "a row less")
        # Another service, and a token that it refuses.
        other = Service("--cors-origin", at.origin)
        try:
            other.call("POST", "/downloads", {"trackId": other.call("GET", "/search?term=prelude&limit=1")["results"][0]["id"]})
            at.run(tab, "const element = document.querySelector('pawl-downloads'); element.removeAttribute('token'); element.setAttribute('src', arguments[0])", other.url)
            at.wait(tab, "shadow('[part=list]').children.length === 1 && shadow('[part=name]').textContent.startsWith('Prelude')", "the other service")
        finally:
            other.close()
        at.wait(tab, "!shadow('[part=message]').hidden", "the message says that there is no connection")
        at.run(tab, "const element = document.querySelector('pawl-downloads'); element.setAttribute('src', arguments[0]); element.setAttribute('token', 'wrong-token-altogether')", at.url)
        at.wait(tab, "shadow('[part=message]').textContent.includes('token') && shadow('[part=list]').children.length === 0", "the message tells of the token")
        at.run(tab, "document.querySelector('pawl-downloads').remove()")
        wait(lambda: not at.proxy.streams, "no stream is left")


def main():
    wanted = sys.argv[1:]
    tests = [test for name, test in globals().items() if name.startswith("test_") and (not wanted or any(word in name for word in wanted))]
    failures = 0
    for test in tests:
        begin, name = time.monotonic(), test.__name__.removeprefix("test_").replace("_", " ")
        try:
            test()
            print(f"passed  {name} ({time.monotonic() - begin:.0f} s)", flush=True)
        except Exception:
            failures += 1
            print(f"FAILED  {name} ({time.monotonic() - begin:.0f} s)\n{traceback.format_exc()}", flush=True)
    sys.exit(0 if tests and not failures else 1)


if __name__ == "__main__":
    main()
