"""Extracts the fenced blocks of README.md and docs/*.md and runs each; `main.py NAME…` runs only those."""

import hashlib
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

from browser_session import BrowserSession
from service import PATIENCE, Service, wait

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The URL of the service in the documents.
ADDRESS = "http://127.0.0.1:8080"


def blocks():
    """All fenced blocks as triples of document, language and text."""
    found = []
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for language, text in re.findall(r"^```(\w*)\n(.*?)^```$", path.read_text(), re.MULTILINE | re.DOTALL):
            found.append((path.name, language, text))
    return found


def only(document, language):
    """The one block of a language in a document."""
    found = [text for name, its_language, text in blocks() if (name, its_language) == (document, language)]
    assert len(found) == 1, f"{document} has {len(found)} blocks of {language}, not 1"
    return found[0]


def run(command, directory):
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=2 * PATIENCE)
    assert done.returncode == 0, f"{command[0]} ended with {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def check_file(service, directory, identity=None):
    """The snippet has downloaded one file, or this and others: the file of the record with its name."""
    downloads = [each for each in service.downloads() if identity in (None, each["id"])]
    assert len(downloads) == 1, f"there are {len(downloads)} downloads"
    assert downloads[0]["state"] == "completed", downloads[0]
    path = pathlib.Path(directory) / downloads[0]["filename"]
    assert path.exists(), f"{path.name} is not among {[each.name for each in pathlib.Path(directory).iterdir()]}"
    assert hashlib.sha256(path.read_bytes()).hexdigest() == downloads[0]["sha256"], "the file is another one"


def program(make_command):
    """Runs a snippet that downloads into its working directory."""
    service = Service()
    try:
        with tempfile.TemporaryDirectory(prefix="pawl-snippet-") as directory:
            command = make_command(lambda text: text.replace(ADDRESS, service.url), pathlib.Path(directory))
            run(command, directory)
            check_file(service, directory)
    finally:
        service.close()


def test_readme():
    """The README's requests, unchanged. ID comes from the response to the second request, from the last part."""
    search, post, watch, pause, resume, file, subscribe = only("README.md", "sh").replace("\\\n", "").splitlines()
    # All at once, since each is paced.
    service = Service("--max-concurrent", "16", "--max-per-host", "16")
    try:
        with tempfile.TemporaryDirectory(prefix="pawl-snippet-") as directory:
            def shell(line):
                return run(["sh", "-uc", line.replace(ADDRESS, service.url)], directory)

            found = json.loads(shell(search))["results"]
            posted = json.loads(shell(post))
            assert posted["label"] == found[0]["id"], f"{posted['label']} is not what was found"
            parts = [item["download"]["id"] for item in posted["items"]]
            assert len(parts) == 8, f"{len(parts)} parts"
            os.environ["ID"] = parts[-1]
            watch = watch.replace(ADDRESS, service.url).replace("curl", f"exec curl --max-time {PATIENCE}")
            stream = subprocess.Popen(["sh", "-uc", watch], stdout=subprocess.PIPE, text=True)
            try:
                told = stream.stdout.readline() + stream.stdout.readline() + stream.stdout.readline()
                assert "event: snapshot" in told and all(part in told for part in parts), told
            finally:
                stream.kill()
                stream.wait()
                stream.stdout.close()
            assert json.loads(shell(pause))["changed"] == 8
            assert json.loads(shell(resume))["changed"] == 8
            wait(lambda: all(item["state"] == "completed" for item in service.downloads()), "the downloads end")
            shell(file)
            check_file(service, directory, parts[-1])
            # The indented command after the block.
            refresh = re.search(r"^    (curl .*/refresh)$", (ROOT / "README.md").read_text(), re.MULTILINE)[1]
            made = json.loads(shell(subscribe))
            label = f"&label=subscription:{made['id']}"
            wait(lambda: [item["state"] for item in service.downloads(label)] == ["completed"], "the newest episode")
            os.environ["SUB"] = made["id"]
            told = lambda: json.loads(shell(refresh))["items"]
            wait(lambda: told()["taken"] == 2, "the episode of the next minute")
    finally:
        service.close()


def test_curl():
    program(lambda here, _: ["sh", "-euc", here(only("clients.md", "sh"))])


def test_python():
    program(lambda here, _: [sys.executable, "-c", here(only("clients.md", "python"))])


def test_swift():
    def compile_snippet(here, directory):
        # In another directory than the snippet's, which it checks.
        (directory / "main.swift").write_text(here(only("clients.md", "swift")))
        run(["swiftc", "-swift-version", "6", "-warnings-as-errors", "main.swift", "-o", "snippet"], directory)
        return ["./snippet"]

    program(compile_snippet)


class Page(http.server.BaseHTTPRequestHandler):
    """An empty page of another origin."""

    def do_GET(self):
        body = b"<!doctype html><title>A page of another site</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve(handler):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}"


def test_javascript():
    """From a page of another origin, with a token: `follow` receives events of the download that `download` started."""
    server, origin = serve(Page)
    service = Service("--cors-origin", origin, token="a-token-for-the-snippet")
    try:
        with BrowserSession() as browser:
            browser.open(origin + "/")
            track = service.call("GET", "/search?term=prelude&limit=1")["results"][0]
            browser.run(only("clients.md", "js") + "\nObject.assign(window, { follow, download, heard: {} });")
            browser.run("return follow(arguments[0], arguments[1], each => { heard[each.id] = each.state; });",
                        service.url, service.token)
            made = browser.run("return download(arguments[0], arguments[1], { trackId: arguments[2] });",
                               service.url, service.token, track["id"])
            wait(lambda: browser.run("return heard[arguments[0]];", made["id"]) == "completed", "the page hears of the end")
            refusal = browser.run("return download(arguments[0], arguments[1], { url: 'ftp://127.0.0.1/' })"
                                  ".then(() => null, error => error.message);", service.url, service.token)
            assert refusal and "url" in refusal, f"a refusal is told as {refusal}"
    finally:
        service.close()
        server.shutdown()


def test_webhook():
    """A real message is authentic, and one with another body, key or time is not."""
    received = []

    class Receiver(Page):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append((body, self.headers["Pawl-Signature"]))
            self.send_response(204)
            self.end_headers()

    server, address = serve(Receiver)
    service = Service("--allow-destination", "127.0.0.1", "--webhook-secret", "a-secret-for-the-snippet")
    try:
        scope = {}
        exec(only("webhooks.md", "python"), scope)
        service.add(service.upstream + "/entity?size=1000&seed=1", webhook=address + "/hook")
        body, signature = wait(lambda: received and received[0], "the webhook is called")
        secret = b"a-secret-for-the-snippet"
        assert scope["is_authentic"](secret, body, signature)
        assert not scope["is_authentic"](secret, body + b" ", signature)
        assert not scope["is_authentic"](b"another", body, signature)
        old = re.sub(r"t=\d+", "t=1000000000", signature)
        assert not scope["is_authentic"](secret, body, old)
    finally:
        service.close()
        server.shutdown()


TESTS = {"readme": test_readme, "curl": test_curl, "python": test_python, "swift": test_swift, "javascript": test_javascript,
         "webhook": test_webhook}


def main(names):
    found = sorted((document, language) for document, language, _ in blocks())
    # The block of sources.md is a file of CatalogTests, which compares them.
    tested = [("README.md", "sh"), *(("clients.md", language) for language in ("js", "python", "sh", "swift")), ("sources.md", "swift"),
              ("webhooks.md", "python")]
    assert found == tested, f"there are blocks that no test runs: {found}"
    failed = 0
    for name in names or TESTS:
        begun = time.monotonic()
        try:
            TESTS[name]()
            print(f"ok      {name} ({time.monotonic() - begun:.1f} s)", flush=True)
        except Exception as error:  # the others run despite any failure
            failed += 1
            print(f"FAILED  {name}: {type(error).__name__}: {error}", flush=True)
    print(f"{len(names or TESTS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
