#!/usr/bin/env python3
"""Drives the published builds of AriaNg and webui-aria2 in a real Chromium, against `pawl demo`.

    Tests/Aria2/pages.py --ariang DIRECTORY --webui DIRECTORY

Each directory has the `index.html` of a build: AriaNg's repository of daily builds, and `docs` of webui-aria2's. CI cannot get them; it
replays the requests of both in `clients.py`. Needs Chromium and the Python environment of `Tests/Console/run`; PAWL_BINARY names the
executable.
"""

import argparse
import base64
import contextlib
import functools
import http.server
import pathlib
import sys
import threading

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "Console"), str(TESTS / "Support")]

from selenium.common.exceptions import WebDriverException  # noqa: E402

from browser import Browser  # noqa: E402
from service import Service, wait  # noqa: E402

TOKEN = "the-secret-of-these-pages"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextlib.contextmanager
def pages(directory):
    """Serves the files of a directory from another origin than the service's."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=directory))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def press(browser, selector, text=""):
    """Clicks the visible element that matches and has the text; returns whether there was one."""
    try:
        return browser.run("""
            const shown = [...document.querySelectorAll(arguments[0])].find((each) =>
                each.offsetParent && !each.disabled && !each.classList.contains("disabled") && each.textContent.includes(arguments[1]));
            shown?.click();
            return shown !== undefined;""", selector, text)
    except WebDriverException:
        return False


def click(browser, selector, text=""):
    wait(lambda: press(browser, selector, text), f"{selector} {text!r} can be clicked")


def put(browser, selector, text):
    """Fills the visible field that matches; returns whether there was one."""
    return browser.run("""
        // AngularJS marks the fields that it listens to.
        const field = [...document.querySelectorAll(arguments[0])].find((each) => each.offsetParent && /ng-(in)?valid/.test(each.className));
        if (!field) return false;
        field.value = arguments[1];
        for (const name of ["input", "change"]) field.dispatchEvent(new Event(name, { bubbles: true }));
        return true;""", selector, text)


def fill(browser, selector, text):
    wait(lambda: put(browser, selector, text), f"{selector} can be filled")


def sees(browser, text):
    wait(lambda: text in browser.run("return document.body.innerText"), lambda: f"the page says {text!r}: "
         + browser.run("return document.body.innerText")[:2000])


def becomes(service, state):
    return wait(lambda: (items := service.downloads()) and items[0]["state"] == state and items[0]["filename"] and items[0],
                f"the download is {state}")


def ariang(browser, directory, protocol):
    with pages(directory) as origin, contextlib.closing(Service("--cors-origin", origin, token=TOKEN)) as service:
        url = service.upstream + "/entity?size=3000000&pace=300000&seed=ariang"
        browser.driver.get("about:blank")
        secret = base64.urlsafe_b64encode(TOKEN.encode()).decode()
        browser.driver.get(f"{origin}/#!/settings/rpc/set/{protocol}/127.0.0.1/{service.port}/jsonrpc/{secret}")
        sees(browser, "Connected")

        def given():
            """After its setup, the page opens its list once at an unknown time."""
            browser.run("if (location.hash !== '#!/new') location.hash = '#!/new'")
            return put(browser, "textarea[ng-model='context.urls']", url) and press(browser, "button", "Download Now")
        wait(given, "a link can be given")
        became = becomes(service, "downloading")
        browser.run("location.hash = '#!/downloading'")
        sees(browser, became["filename"])
        click(browser, ".task-name", became["filename"])
        click(browser, "a[title='Pause']")
        paused = becomes(service, "paused")
        browser.run("location.hash = '#!/waiting'")
        sees(browser, paused["filename"])
        browser.run(f"location.hash = '#!/task/detail/' + arguments[0]", call(service, "aria2.tellWaiting", 0, 10, ["gid"])[0]["gid"])
        sees(browser, "Task Status")
        sees(browser, "Paused")
        browser.shoot(f"ariang-{protocol}")
        click(browser, "a[title='Start']")
        becomes(service, "completed")
        browser.run("location.hash = '#!/stopped'")
        sees(browser, paused["filename"])
        errors = [line["message"] for line in browser.driver.get_log("browser") if line["level"] == "SEVERE"]
        assert not errors, errors


def call(service, method, *parameters):
    answer = service.call("POST", "/jsonrpc", {"id": "1", "method": method, "params": [f"token:{TOKEN}", *parameters]})
    return answer["result"]


def webui(browser, directory):
    with pages(directory) as origin, contextlib.closing(Service("--cors-origin", origin, token=TOKEN)) as service:
        url = service.upstream + "/entity?size=3000000&pace=300000&seed=webui"
        browser.driver.get("about:blank")
        browser.driver.get(origin + "/")
        click(browser, "a.dropdown-toggle", "Settings")
        click(browser, "a", "Connection Settings")
        fill(browser, "input[ng-model='connection.conf.host'], input#host, .modal input[type='text']", "127.0.0.1")
        fill(browser, "input[ng-model='connection.conf.port'], input#port, .modal input[type='number']", str(service.port))
        fill(browser, "input[ng-model='connection.conf.auth.token'], .modal input[type='password']", TOKEN)
        click(browser, ".modal button", "Save")
        click(browser, "a.dropdown-toggle", "Add")
        click(browser, "a", "By URIs")
        fill(browser, ".modal textarea", url)
        click(browser, ".modal button", "Start")
        became = becomes(service, "downloading")
        sees(browser, became["filename"])
        browser.shoot("webui")
        click(browser, "[ng-click='pause(download)']")
        becomes(service, "paused")
        click(browser, "[ng-click='resume(download)']")
        becomes(service, "completed")
        sees(browser, "Complete")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ariang")
    parser.add_argument("--webui")
    chosen = parser.parse_args()
    browser = Browser()
    checks = []
    if chosen.ariang:
        checks += [("AriaNg over HTTP", lambda: ariang(browser, chosen.ariang, "http")), ("AriaNg over a WebSocket", lambda: ariang(browser, chosen.ariang, "ws"))]
    if chosen.webui:
        checks += [("webui-aria2", lambda: webui(browser, chosen.webui))]
    try:
        for name, check in checks:
            check()
            print("passed ", name, flush=True)
    finally:
        browser.shoot("pages-last")
        browser.close()
