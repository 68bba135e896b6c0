"""The common parts of the tests of console, terminal and snippets: their own `pawl demo`, and waiting for conditions."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

# Everything may take twenty times its usual time: waits have a condition and this time limit.
PATIENCE = int(os.environ.get("PATIENCE", 90))

# Downloads here need not be durable: they are in memory if there is enough, so that a busy disk delays no test.
SHELF = "/dev/shm" if os.path.isdir("/dev/shm") and shutil.disk_usage("/dev/shm").free > 2e9 else None


def wait(condition, what, limit=PATIENCE):
    """Waits until `condition()` is true, and returns its result. `what` may be a function, called after the time limit."""
    deadline = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {limit} s in vain: {what() if callable(what) else what}")
        time.sleep(0.03)


def fetch(url):
    """The bytes of a URL."""
    with urllib.request.urlopen(url, timeout=PATIENCE) as response:
        return response.read()


class Service:
    """A `pawl demo` on a free port with its own data directory. After `stop`, `start` continues with both."""

    def __init__(self, *flags, token=None, tokens=None):
        """`tokens` is the text of the file of `--tokens-file`."""
        self.directory = tempfile.mkdtemp(prefix="pawl-test-", dir=SHELF)
        self.flags = flags
        if tokens:
            path = self.directory + "/tokens"
            with open(path, "w") as file:
                file.write(tokens)
            self.flags += ("--tokens-file", path)
        self.token = token
        self.port = 0
        self.child = None
        self.start()

    def start(self):
        arguments = [os.environ["PAWL_BINARY"], "demo", "--port", str(self.port), "--data-dir", self.directory + "/data", *self.flags]
        if self.token:
            arguments += ["--token", self.token]
        self.log = open(self.directory + "/log", "ab")
        self.child = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.child.stdout.readline()
        assert line.startswith("listening on "), line
        self.url = line.split()[-1]
        self.port = int(self.url.rsplit(":", 1)[1])

    def stop(self):
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
            try:
                self.child.wait(30)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()
        self.child.stdout.close()
        self.log.close()

    def close(self):
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def renew(self):
        """Continues with an empty data directory at another port."""
        self.close()
        self.__init__(*self.flags, token=self.token)

    def call(self, method, path, body=None):
        """Sends a request as a client does; returns the response's JSON."""
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as response:
                text = response.read()
        except urllib.error.HTTPError as error:
            error.msg += ": " + error.read().decode(errors="replace")
            raise
        return json.loads(text) if text else None

    def add(self, url, **members):
        return self.call("POST", "/downloads", {"url": url, **members})

    def downloads(self, query=""):
        return self.call("GET", "/downloads?limit=200" + query)["items"]

    def clear(self):
        """Removes all subscriptions and downloads."""
        for item in self.call("GET", "/subscriptions?limit=200")["items"]:
            self.call("DELETE", "/subscriptions/" + item["id"])
        while items := self.downloads():
            for item in items:
                self.call("DELETE", f"/downloads/{item['id']}?deleteFile=true")

    @property
    def upstream(self):
        """The address of the demo's own origin."""
        response = self.call("GET", "/search?term=prelude&limit=1")
        parts = urllib.parse.urlsplit(response["results"][0]["downloadUrl"])
        return f"{parts.scheme}://{parts.netloc}"
