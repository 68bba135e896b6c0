"""Extracts the fenced blocks of README.md and docs/*.md and the commands of docs/tour.md, and runs each; `main.py NAME…` runs only those."""

import base64
import hashlib
import http.server
import json
import os
import pathlib
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from standardwebhooks import Webhook, WebhookVerificationError

from browser_session import BrowserSession
from service import PATIENCE, Service, fetch, wait

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


def every(document, language):
    """The blocks of a language in a document."""
    return [text for name, its_language, text in blocks() if (name, its_language) == (document, language)]


def only(document, language):
    """The one block of a language in a document."""
    found = every(document, language)
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
    """The README's requests, unchanged; then everything is resumed, as the text below them says."""
    post, watch, pause = only("README.md", "sh").splitlines()
    # All at once, since each is paced.
    service = Service("--max-concurrent", "16", "--max-per-host", "16")
    try:
        with tempfile.TemporaryDirectory(prefix="pawl-snippet-") as directory:
            def shell(line):
                return run(["sh", "-uc", line.replace(ADDRESS, service.url)], directory)

            parts = [item["download"]["id"] for item in json.loads(shell(post))["items"]]
            assert len(parts) == 8, f"{len(parts)} parts"
            watch = watch.replace(ADDRESS, service.url).replace("curl", f"exec curl --max-time {PATIENCE}")
            stream = subprocess.Popen(["sh", "-uc", watch], stdout=subprocess.PIPE, text=True)
            try:
                told = "".join(iter(stream.stdout.readline, "\n"))
                assert "event: snapshot" in told and all(part in told for part in parts), told
            finally:
                stream.kill()
                stream.wait()
                stream.stdout.close()
            assert json.loads(shell(pause))["changed"] == 8
            assert json.loads(shell(pause.replace("pause", "resume")))["changed"] == 8
            wait(lambda: all(item["state"] == "completed" for item in service.downloads()), "the downloads end")
    finally:
        service.close()


def bound(port):
    """A socket that listens at the port; None if another one does."""
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError:
        return None


def test_tour():
    """The commands of tour.md, unchanged but for the build, the port and the ids, in one shell, beside another demo."""
    text = (ROOT / "docs/tour.md").read_text().replace("\\\n", "")
    commands = re.findall(r"^    \$ (.*)$", text, re.MULTILINE)
    assert commands.pop(0) == "swift build -c release --product pawl"
    # Beyond the ports that the system gives to others while the demo is not running.
    with next(filter(None, map(bound, random.sample(range(20_000, 32_000), 100)))) as free:
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    directory = tempfile.TemporaryDirectory(prefix="pawl-snippet-")
    shell = subprocess.Popen(["bash"], cwd=directory.name, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                             stderr=subprocess.DEVNULL, env={**os.environ, "PAWL_PORT": str(port)})
    watchdog = threading.Timer(5 * PATIENCE, shell.kill)
    watchdog.start()
    other = None

    def command(expected, **replaced):
        """Runs the next command, which has to begin like this, and returns its output."""
        line = commands.pop(0).replace(ADDRESS, address).replace(".build/release/pawl", "$PAWL_BINARY")
        assert line.startswith(expected), f"{line} does not begin with {expected}"
        for name, value in replaced.items():
            line = re.sub(rf"^{name}=\w+$", f"{name}={value}", line)
        if line.startswith("curl -N"):
            line = f"timeout {PATIENCE} {line} | grep -m 1 'event: download'"
        shell.stdin.write(f"{line}\nprintf '\\n= %s\\n' $?\n")
        shell.stdin.flush()
        output = ""
        while not (told := shell.stdout.readline()).startswith("= "):
            assert told, f"the shell ends at {line}: {output}"
            if told != f"listening on {address}\n":
                output += told
        assert told == "= 0\n", f"{line} ended with {told}: {output}"
        return output

    def answers(url=address + "/healthz"):
        try:
            return fetch(url)
        except OSError:
            return None

    def downloads():
        return json.loads(fetch(address + "/downloads?label=archive:tidewater-soundings-2023"))["items"]

    try:
        command("$PAWL_BINARY demo 2>demo.log &")
        wait(answers, "the demo listens")
        # Another demo, started later: the tour must not touch it.
        other = Service()
        assert len(json.loads(command("curl 'http"))["results"]) == 1
        assert json.loads(command("curl 'http"))["total"] == 8
        assert len(json.loads(command("curl http"))["items"]) == 8
        assert "event: download" in command("curl -N")
        wait(lambda: sum(each["bytesReceived"] > 0 for each in downloads()) == 4, "four parts begin")
        command("WORK=")
        assert json.loads(command("curl -X POST"))["changed"] == 8
        command("kill -9 $demo")
        wait(lambda: not answers(), "the demo is killed")
        assert answers(other.url + "/healthz"), "the other demo is killed as well"
        command("$PAWL_BINARY demo 2>>demo.log &")
        wait(answers, "the demo listens again")
        paused = json.loads(command("curl \"http"))["items"]
        assert [each["state"] for each in paused] == ["paused"] * 8 and paused[0]["bytesReceived"] > 0, paused
        assert json.loads(command("curl -X POST"))["changed"] == 8
        wait(lambda: all(each["state"] == "completed" for each in downloads()), "all files are there")
        # The shell waits for nothing: the log has the requests since they were sent.
        assert command("grep").count("→ 206") >= 4
        command("ID=", ID=paused[0]["id"])
        assert json.loads("{" + command("curl -s") + "}")["sha256"] == command("curl -s").split()[0]
        command("curl --fail")
        assert pathlib.Path(directory.name, paused[0]["filename"]).stat().st_size == paused[0]["bytesTotal"]
        subscription = json.loads(command("curl http"))
        command("SUB=", SUB=subscription["id"])
        assert json.loads(command("curl \"http"))["items"]
        assert json.loads(command("curl -X POST"))["id"] == subscription["id"]
        refresh = urllib.request.Request(f"{address}/subscriptions/{subscription['id']}/refresh", method="POST")
        wait(lambda: json.loads(fetch(refresh))["items"]["taken"] == 2, "the episode of the next minute")
        command("kill $demo")
        wait(lambda: not answers(), "the demo ends")
        assert not commands, f"no test runs {commands}"
    finally:
        watchdog.cancel()
        # Whatever of it still runs: the shell ends its own demo.
        if shell.poll() is None:
            try:
                shell.communicate("kill -9 $demo 2>/dev/null; wait\n", timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                shell.kill()
        if other:
            other.close()
        directory.cleanup()


def test_curl():
    program(lambda here, _: ["sh", "-euc", here(only("clients.md", "sh"))])


def test_python():
    program(lambda here, _: [sys.executable, "-c", here(only("clients.md", "python"))])


def test_swift():
    """In a package that depends on PawlKit."""
    def build_snippet(here, directory):
        # In another directory than the snippet's, which it checks.
        package, build = directory / "package", ROOT / ".build/snippet"
        (package / "Sources/Snippet").mkdir(parents=True)
        (package / "Sources/Snippet/main.swift").write_text(here(only("clients.md", "swift")))
        (package / "Package.swift").write_text(f"""// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "Snippet", dependencies: [.package(name: "PawlKit", path: "{ROOT}/Clients/Swift")],
    targets: [.executableTarget(name: "Snippet", dependencies: ["PawlKit"], swiftSettings: [.treatAllWarnings(as: .error)])])
""")
        command = ["swift", "build", "--package-path", str(package), "--scratch-path", str(build)]
        run(command, directory)
        return [run([*command, "--show-bin-path"], directory).strip() + "/Snippet"]

    program(build_snippet)


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
    """The page of another origin searches, downloads what is clicked, and shows it."""
    token = "a-token-for-the-snippet"

    class Site(Page):
        def do_GET(self):
            client = ROOT / "Clients/JavaScript" / self.path.removeprefix("/client/")
            body = client.read_bytes() if self.path.startswith("/client/") else page.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/javascript" if self.path.endswith(".js") else "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server, origin = serve(Site)
    service = Service("--cors-origin", origin, token=token)
    page = only("clients.md", "html").replace("https://pawl.example/client/", origin + "/client/")
    page = page.replace("https://pawl.example", service.url).replace("\"…\"", f'"{token}"')
    try:
        with BrowserSession() as browser:
            browser.open(origin + "/")
            wait(lambda: browser.run("return document.querySelector('form').onsubmit !== null"), "the page runs")
            browser.run("const form = document.querySelector('form'); form.term.value = 'prelude'; form.requestSubmit();")
            wait(lambda: browser.run("return document.querySelectorAll('ul button').length > 0"), "the results")
            name = browser.run("const button = document.querySelector('ul button'); button.click(); return button.textContent;")
            text = "return document.querySelector('pawl-downloads').shadowRoot.querySelector('li')?.textContent ?? '';"
            wait(lambda: name in (row := browser.run(text)) and "completed" in row, lambda: f"the row: {browser.run(text)}")
    finally:
        service.close()
        server.shutdown()


SECRETS = ["whsec_" + base64.b64encode(bytes([number]) * 32).decode() for number in range(3)]


def verified(secret, message):
    """The message if it is authentic; None otherwise."""
    try:
        return Webhook(secret).verify(*message)
    except WebhookVerificationError:
        return None


def test_webhook():
    """Messages of each type arrive once, and the library of Standard Webhooks verifies them with each secret of a rotation."""
    received = []
    fails = threading.Event()

    class Receiver(Page):
        def do_POST(self):
            received.append((self.path, (self.rfile.read(int(self.headers["Content-Length"])), dict(self.headers))))
            self.send_response(204)
            self.end_headers()

        def do_GET(self):
            body = b"<rss version='2.0'><channel><title>Show</title></channel></rss>"
            self.send_response(500 if fails.is_set() else 200)
            self.send_header("Content-Type", "application/rss+xml")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server, address = serve(Receiver)
    service = Service("--allow-destination", "127.0.0.1", "--webhook-secret", ",".join(SECRETS[:2]), "--webhook", address + "/all",
                      "--webhook-events", "download.completed,download.cancelled,subscription.failed")

    def told(count):
        wait(lambda: len(received) >= count, lambda: f"{count} messages; there are {len(received)}")
        return [(path, verified(SECRETS[0], message)) for path, message in received]

    try:
        done = service.add(service.upstream + "/entity?size=1000&seed=1", webhook=address + "/own")
        failed = service.add(service.upstream + "/missing", webhook=address + "/own")
        messages = told(3)
        expected = {("/all", "download.completed", done["id"]), ("/own", "download.completed", done["id"]),
                    ("/own", "download.failed", failed["id"])}
        assert {(path, each["type"], each["data"]["id"]) for path, each in messages} == expected, messages
        assert all(each["timestamp"] == each["data"]["completedAt"] for _, each in messages if each["data"]["completedAt"]), messages

        cancelled = service.add(service.upstream + "/entity?size=10&seed=3", paused=True)
        service.call("POST", f"/downloads/{cancelled['id']}/cancel")
        assert told(4)[3][1]["type"] == "download.cancelled"

        subscription = service.call("POST", "/subscriptions", {"feedUrl": address + "/feed.xml?key=s3cret"})
        service.call("POST", f"/subscriptions/{subscription['id']}/refresh")
        fails.set()
        for _ in range(3):
            service.call("POST", f"/subscriptions/{subscription['id']}/refresh")
        outage = told(5)[4][1]
        assert (outage["type"], outage["data"]["id"]) == ("subscription.failed", subscription["id"]), outage
        assert "s3cret" not in json.dumps(outage), outage

        # The last message, which none of the failed checks precedes.
        assert service.call("POST", "/settings/webhooks/test") == {
            "receivers": [{"url": address + "/all", "status": 204, "error": None}]}
        assert told(6)[5][1] == {**told(6)[5][1], "type": "webhook.test", "data": {}}
        assert len(received) == 6, [json.loads(body) for _, (body, _) in received]

        for _, (body, fields) in received:
            message = (body, fields)
            assert verified(SECRETS[1], message), "a message has a signature of the other secret"
            assert not verified(SECRETS[2], message)
            assert not verified(SECRETS[0], (body + b" ", fields))
            for name, value in [("webhook-id", "another"), ("webhook-timestamp", "1000000000"), ("webhook-signature", "v1,AAAA")]:
                assert not verified(SECRETS[0], (body, {**{each.lower(): fields[each] for each in fields}, name: value})), name
        assert len({fields["webhook-id"] for _, (_, fields) in received}) == 6
    finally:
        service.close()
        server.shutdown()


def receiver(number, *arguments, **variables):
    """Starts a receiver of webhooks.md at another port, and returns its process and its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    text = every("webhooks.md", "python")[number].replace("9000", str(port))
    process = subprocess.Popen([sys.executable, "-c", text, *arguments], stderr=subprocess.DEVNULL,
                               env={**os.environ, "PAWL_WEBHOOK_SECRET": SECRETS[0], **variables})

    def listens():
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", port)) == 0

    try:
        wait(listens, "the receiver listens")
    except BaseException:
        process.kill()
        process.wait()
        raise
    return process, f"http://127.0.0.1:{port}"


def test_program():
    """The receiver of webhooks.md runs a program for each authentic message, and for no other."""
    with tempfile.TemporaryDirectory(prefix="pawl-snippet-") as directory:
        program = pathlib.Path(directory) / "on-message"
        program.write_text(f'#!/bin/sh\nprintf "%s\\n%s\\n" "$1" "$2" >{directory}/new && mv {directory}/new {directory}/$1\n')
        program.chmod(0o700)
        process, address = receiver(0, str(program))
        service = Service("--allow-destination", "127.0.0.1", "--webhook-secret", SECRETS[0], "--webhook", address)
        try:
            assert forged(address) == b"", "a message without a signature has no response"
            made = service.add(service.upstream + "/entity?size=1000&seed=1")
            told = pathlib.Path(directory) / "download.completed"
            wait(told.exists, "the program runs")
            kind, data = told.read_text().splitlines()
            assert (kind, json.loads(data)["id"]) == ("download.completed", made["id"])
            assert sorted(each.name for each in pathlib.Path(directory).iterdir()) == ["download.completed", "on-message"]
        finally:
            service.close()
            process.kill()
            process.wait()


def forged(address):
    """Sends a message without a signature, and returns the bytes of the response."""
    with socket.create_connection(address.removeprefix("http://").split(":")) as client:
        client.settimeout(PATIENCE)
        client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
        return client.recv(4096)


def test_ntfy():
    """The receiver of webhooks.md forwards messages to ntfy, and one that ntfy has refused once more."""
    notes = []

    class Ntfy(Page):
        def do_POST(self):
            text = self.rfile.read(int(self.headers["Content-Length"])).decode()
            notes.append((self.path, self.headers["Title"], text))
            self.send_response(503 if len(notes) == 1 else 200)
            self.send_header("Content-Length", "0")
            self.end_headers()

    server, address = serve(Ntfy)
    process, hook = receiver(1, NTFY_URL=address + "/my-topic")
    service = Service("--allow-destination", "127.0.0.1", "--webhook-secret", SECRETS[0], "--webhook", hook)
    try:
        made = service.add(service.upstream + "/entity?size=1000&seed=1", filename="a sound.bin")
        wait(lambda: len(notes) == 2, "the message is sent again")
        assert notes == [("/my-topic", "download.completed", "a sound.bin")] * 2, (notes, made)
    finally:
        service.close()
        process.kill()
        process.wait()
        server.shutdown()


TESTS = {"readme": test_readme, "tour": test_tour, "curl": test_curl, "python": test_python, "swift": test_swift, "javascript": test_javascript,
         "webhook": test_webhook, "program": test_program, "ntfy": test_ntfy}


def main(names):
    found = sorted((document, language) for document, language, _ in blocks())
    # The block of sources.md is a file of CatalogTests, which compares them.
    tested = [("README.md", "sh"), *(("clients.md", language) for language in ("html", "python", "sh", "swift")), ("sources.md", "swift"),
              ("webhooks.md", "python"), ("webhooks.md", "python")]
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
