#!/usr/bin/env python3
"""A client at https://media.example:PORT of the service behind a proxy, below /pawl (over the Unix socket, with the prefix in the path) and
below /media (over TCP, with the prefix removed). Called by Tests/Proxies/run; ends with status 1 at the first fault."""

import argparse
import hashlib
import http.client
import json
import re
import socket
import ssl
import time
import urllib.parse

TOKEN = "s3cret-of-16-or-more"
LIMIT = 20
# The size of the downloaded file, which needs many pieces.
SIZE = 3_000_000


class Client:
    """Requests of one client from its own address of 127.0.0.0/8, so that the service can distinguish it from the proxy."""

    def __init__(self, arguments, address):
        self.arguments = arguments
        self.address = address
        self.authority = f"media.example:{arguments.port}"
        self.context = ssl.create_default_context(cafile=arguments.certificate)

    def connect(self):
        raw = socket.create_connection(("127.0.0.1", self.arguments.port), timeout=LIMIT, source_address=(self.address, 0))
        connection = http.client.HTTPConnection(self.authority, timeout=LIMIT)
        connection.sock = self.context.wrap_socket(raw, server_hostname="media.example")
        return connection

    def open(self, method, path, body=None, token=TOKEN, **fields):
        """Sends a request; the caller reads the response."""
        connection = self.connect()
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        response.connection = connection
        return response

    def send(self, method, path, body=None, **fields):
        response = self.open(method, path, body, **fields)
        response.content = response.read()
        response.connection.close()
        return response

    def json(self, method, path, body=None, status=200, **fields):
        response = self.send(method, path, body, **fields)
        expect(response.status == status, f"{method} {path}: {response.status} {response.content[:200]}")
        return json.loads(response.content)


def expect(holds, what):
    if not holds:
        raise SystemExit(f"proxies: {what}")


def wait_for(what, find):
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        found = find()
        if found:
            return found
        time.sleep(0.05)
    raise SystemExit(f"proxies: {what}")


def events(response):
    """The events of a stream as they arrive."""
    name = None
    while line := response.readline().decode().rstrip("\n"):
        if line.startswith("event: "):
            name = line[7:]
        elif line.startswith("data: "):
            yield name, json.loads(line[6:])
            response.readline()


def check_console(client, base):
    bare = client.send("GET", base, token=None)
    expect(300 <= bare.status < 400, f"{base} is answered {bare.status}")
    expect(urllib.parse.urlsplit(bare.headers["Location"]).path == base + "/", f"{base} leads to {bare.headers['Location']}")
    page = client.send("GET", base + "/", token=None)
    expect(page.status == 200 and page.headers["Content-Type"].startswith("text/html"), f"the page: {page.status}")
    wanted = [urllib.parse.urljoin(base + "/", found) for found in re.findall(r'(?:href|src)="([^"#]+)"', page.content.decode())]
    seen = {}
    while wanted:
        path = wanted.pop()
        if path in seen:
            continue
        file = client.send("GET", path, token=None)
        expect(file.status == 200, f"{path}: {file.status}")
        seen[path] = file
        if path.endswith(".js"):
            imports = re.findall(r'(?:from |import |import\()"(\.{1,2}/[a-z./]+)"', file.content.decode())
            wanted += [urllib.parse.urljoin(path, found) for found in imports]
    others = {path for path in seen if not path.startswith(base + "/console/")}
    expect(len(seen) >= 15 and others == {base + "/client/pawl.js", base + "/docs"}, f"of the console: {sorted(seen)}")
    again = client.send("GET", base + "/console/console.js", token=None, If_None_Match=seen[base + "/console/console.js"].headers["ETag"])
    expect(again.status == 304, f"a file that has not changed: {again.status}")
    for path, status in [("/docs", 200), ("/openapi.yaml", 200), ("/healthz", 200), ("/readyz", 200), ("/stats", 401), ("/nothing", 401)]:
        expect(client.send("GET", base + path, token=None).status == status, base + path)


def check_downloads(client, base):
    found = client.json("GET", base + "/search?term=prelude&limit=1")["results"][0]["downloadUrl"]
    origin = "http://" + urllib.parse.urlsplit(found).netloc
    page = f"https://{client.authority}"

    # The stream's first event arrives at once, and later ones while it is open.
    begun = time.monotonic()
    stream = client.open("GET", base + "/downloads/events?interval=50")
    expect(stream.status == 200 and stream.headers["Content-Type"] == "text/event-stream", f"the event stream: {stream.status}")
    received = events(stream)
    expect(next(received)[0] == "snapshot", "the stream begins with something else")
    expect(time.monotonic() - begun < 5, "the first event is held back")

    body = {"url": f"{origin}/entity?size={SIZE}", "filename": f"{client.arguments.proxy}-{base[1:]}.bin", "onDuplicate": "new"}
    added = client.send("POST", base + "/downloads", json.dumps(body), Origin=page)
    expect(added.status == 201, f"a download: {added.status} {added.content[:200]}")
    download = json.loads(added.content)
    own = f"{base}/downloads/{download['id']}"
    expect(added.headers["Location"] == own, f"Location is {added.headers['Location']}")
    links = {"self": own, "file": own + "/file", "events": own + "/events"}
    expect(download["links"] == links, f"links are {download['links']}")
    for name, data in received:
        if name == "download" and data["id"] == download["id"]:
            expect(data["links"] == links, f"an event's links are {data['links']}")
            if data["state"] == "completed":
                break
    stream.connection.close()

    whole = client.send("GET", links["file"])
    expect(whole.status == 200 and len(whole.content) == SIZE, f"the file: {whole.status}, {len(whole.content)} bytes")
    expect(hashlib.sha256(whole.content).hexdigest() == client.json("GET", own)["sha256"], "the file has other bytes")
    part = client.send("GET", links["file"], Range="bytes=1000000-1999999", If_Range=whole.headers["ETag"])
    expect(part.status == 206 and part.content == whole.content[1_000_000:2_000_000], f"a range: {part.status}")
    expect(part.headers["Content-Range"] == f"bytes 1000000-1999999/{SIZE}", f"a range: {part.headers['Content-Range']}")
    several = client.send("GET", links["file"], Range="bytes=0-9,-10")
    expect(several.status == 206 and several.headers["Content-Type"].startswith("multipart/byteranges"), f"two ranges: {several.status}")
    expect(client.send("GET", links["file"], Range=f"bytes={SIZE}-").status == 416, "a range behind the end")
    expect(client.send("HEAD", links["file"]).headers["Content-Length"] == str(SIZE), "HEAD")

    # An own page has this host and port, with https.
    for origin_sent, status in [(page, 200), (f"http://{client.authority}", 403), ("https://media.example", 403), ("https://evil.example", 403)]:
        answer = client.send("POST", base + "/downloads/pause?label=none", Origin=origin_sent)
        expect(answer.status == status, f"a page of {origin_sent}: {answer.status}")

    # Bodies of 1 MiB pass, and longer ones do not.
    text = json.dumps({"url": f"{origin}/entity?size=1", "paused": True}).encode()
    for size, statuses in [(1 << 20, [200, 201]), ((1 << 20) + 1, [413])]:
        answer = client.send("POST", base + "/downloads", text + b" " * (size - len(text)))
        expect(answer.status in statuses, f"a body of {size} bytes: {answer.status}")
    return own


def check_clients(client, other, base, own, log):
    # The proxy replaces a client's own statements.
    lies = {
        "X_Forwarded_For": "203.0.113.77", "Forwarded": "for=203.0.113.77;host=localhost;proto=http", "X_Forwarded_Host": "evil.example",
        "X_Forwarded_Prefix": "/evil", "X_Forwarded_Proto": "http", "X_Real_IP": "203.0.113.77",
    }
    answer = client.json("GET", own, X_Request_Id=f"liar{base[1:]}{client.arguments.port}", **lies)
    expect(answer["links"]["self"] == own, f"links are {answer['links']}")
    answer = client.send("POST", base + "/downloads/pause?label=none", Origin=f"https://{client.authority}", **lies)
    expect(answer.status == 200, f"a page of ours with lies: {answer.status}")

    # Wrong tokens of one client are throttled, but no other client's.
    statuses = [client.send("GET", base + "/stats", token=f"guess-{number}").status for number in range(25)]
    expect(statuses[0] == 401 and statuses[-1] == 429, f"guesses: {statuses}")
    expect(client.send("GET", base + "/stats").status == 200, "the right token of one who guesses")
    expect(other.send("GET", base + "/stats", token="guess").status == 401, "another client's first guess")

    def lines():
        entries = [json.loads(line) for line in open(log) if line.startswith("{")]
        mine = [entry for entry in entries if entry.get("requestId") == f"liar{base[1:]}{client.arguments.port}"]
        return entries if mine else None

    entries = wait_for("the log has no line of a request", lines)
    failures = {entry["address"] for entry in entries if entry["message"] == "authentication failed"}
    expect({client.address, other.address} <= failures, f"failures are logged of {failures}")
    expect("203.0.113.77" not in open(log).read(), "the log has what a client said")
    peers = {entry["address"] for entry in entries if entry["message"] == "request" and entry.get("path") == "/stats"}
    expect({client.address, other.address} <= peers, f"requests are logged of {peers}")


def main():
    parser = argparse.ArgumentParser()
    for name in ["--proxy", "--certificate", "--log"]:
        parser.add_argument(name, required=True)
    parser.add_argument("--port", required=True, type=int)
    arguments = parser.parse_args()
    # Each proxy and prefix has its own clients, since wrong tokens are remembered.
    first = 10 if arguments.proxy == "nginx" else 20
    for number, base in enumerate(["/pawl", "/media"]):
        client = Client(arguments, f"127.0.0.{first + 2 * number}")
        other = Client(arguments, f"127.0.0.{first + 2 * number + 1}")
        check_console(client, base)
        own = check_downloads(client, base)
        check_clients(client, other, base, own, arguments.log)
        print(f"   {arguments.proxy} at {base}: console, events, bodies, ranges, links, limits, log")


main()
