"""A headless Chromium with its driver's protocol (W3C WebDriver), with Python's standard library only."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request

from service import PATIENCE, SHELF


class BrowserSession:
    def __init__(self, *flags):
        """`flags` are further ones of Chromium."""
        self.flags = flags

    def __enter__(self):
        # Chromium and its driver leave files in several directories.
        self.directory = tempfile.mkdtemp(prefix="pawl-browser-", dir=SHELF)
        variables = {**os.environ, "TMPDIR": self.directory, "HOME": self.directory}
        # The driver prints its port.
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                       env=variables)
        self.session = None
        try:
            for line in self.driver.stdout:
                if found := re.search(r"started successfully on port (\d+)", line):
                    break
            else:
                raise AssertionError("chromedriver does not start")
            self.url = f"http://127.0.0.1:{found[1]}"
            # The sandbox needs privileges that containers lack, and /dev/shm is small there.
            flags = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking",
                     *self.flags]
            options = {"binary": "/usr/bin/chromium", "args": flags}
            answer = self._send("POST", "/session", {"capabilities": {"alwaysMatch": {
                "browserName": "chrome", "goog:chromeOptions": options, "timeouts": {"script": PATIENCE * 1000}}}})
            self.session = answer["sessionId"]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            if self.session:
                self._send("DELETE", f"/session/{self.session}")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()
            shutil.rmtree(self.directory, ignore_errors=True)

    def open(self, url):
        self._send("POST", f"/session/{self.session}/url", {"url": url})

    def run(self, script, *arguments):
        """Runs the body of a function in the page, and returns its result, or its promise's."""
        return self._send("POST", f"/session/{self.session}/execute/sync", {"script": script, "args": list(arguments)})

    def new_tab(self):
        """Opens a tab, switches to it, and returns its handle."""
        handle = self._send("POST", f"/session/{self.session}/window/new", {"type": "tab"})["handle"]
        self.switch(handle)
        return handle

    def switch(self, handle):
        self._send("POST", f"/session/{self.session}/window", {"handle": handle})

    def close_tab(self):
        self._send("DELETE", f"/session/{self.session}/window")

    def cdp(self, command, **parameters):
        """Sends a command of the DevTools protocol to the current tab."""
        return self._send("POST", f"/session/{self.session}/goog/cdp/execute", {"cmd": command, "params": parameters})

    def _send(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=2 * PATIENCE) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"]) from None
