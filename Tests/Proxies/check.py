"""A client at https://media.example:PORT of the service behind a proxy, below /pawl (with the prefix in the path) and, in the examples,
below /media (with the prefix removed). Fails with AssertionError at the first fault."""

import base64
import concurrent.futures
import contextlib
import dataclasses
import hashlib
import http.client
import json
import os
import re
import socket
import ssl
import struct
import time
import urllib.parse
import zlib

TOKEN = "s3cret-of-16-or-more"
LIMIT = 60
# The size of the downloaded file, which needs many pieces.
SIZE = 3_000_000


@dataclasses.dataclass
class Setup:
    """A proxy that runs, and the service behind it."""

    name: str
    proxy: object
    port: int
    certificate: str
    # The service's log.
    log: str
    # Seconds of a long poll, and of a WebSocket without messages.
    wait: int


class Client:
    """Requests of one client from its own address of 127.0.0.0/8, so that the service can distinguish it from the proxy."""

    def __init__(self, setup, address):
        self.setup = setup
        self.address = address
        self.authority = f"media.example:{setup.port}"
        self.page = f"{'https' if setup.proxy.has_tls else 'http'}://{self.authority}"
        self.context = ssl.create_default_context(cafile=setup.certificate)

    def connect(self, limit=LIMIT):
        raw = socket.create_connection(("127.0.0.1", self.setup.port), timeout=limit, source_address=(self.address, 0))
        return self.context.wrap_socket(raw, server_hostname="media.example") if self.setup.proxy.has_tls else raw

    def open(self, method, path, body=None, token=TOKEN, limit=LIMIT, **fields):
        """Sends a request; the caller reads the response."""
        connection = http.client.HTTPConnection(self.authority, timeout=limit)
        connection.sock = self.connect(limit)
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
        raise AssertionError(what)


def wait_for(what, find):
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        found = find()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(what)


def plain(response):
    """A response's content without its coding."""
    coding = response.headers["Content-Encoding"]
    return zlib.decompress(response.content, wbits=47) if coding else response.content


class WebSocket:
    """A connection to aria2's interface."""

    def __init__(self, client, base, limit):
        self.socket = client.connect(limit)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {base}/jsonrpc HTTP/1.1\r\nHost: {client.authority}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Origin: {client.page}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
        self.rest = b""
        while b"\r\n\r\n" not in self.rest:
            self.read()
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        expect(head.startswith(b"HTTP/1.1 101"), f"a WebSocket's handshake: {head.splitlines()[0]}")

    def close(self):
        self.socket.close()

    def read(self):
        block = self.socket.recv(1 << 16)
        expect(block, "a WebSocket is cut off")
        self.rest += block

    def send(self, opcode, data):
        mask = os.urandom(4)
        length = bytes([0x80 | len(data)]) if len(data) < 126 else bytes([0x80 | 126]) + struct.pack(">H", len(data))
        self.socket.sendall(bytes([0x80 | opcode]) + length + mask + bytes(byte ^ mask[index % 4] for index, byte in enumerate(data)))

    def frame(self):
        """The message in the next frame, or None if that is a ping, which is answered."""
        while True:
            opcode, length = (self.rest[0] & 0xF, self.rest[1] & 0x7F) if len(self.rest) > 1 else (0, 0)
            begin = 2
            if length == 126:
                begin, length = 4, int.from_bytes(self.rest[2:4])
            if opcode and len(self.rest) >= begin + length:
                break
            self.read()
        data, self.rest = self.rest[begin:begin + length], self.rest[begin + length:]
        expect(opcode in (1, 9), f"a WebSocket has a frame {opcode}: {data}")
        if opcode == 1:
            return json.loads(data)
        self.send(10, data)

    def receive(self):
        while (message := self.frame()) is None:
            pass
        return message

    def idle(self, seconds):
        """Waits, and answers pings."""
        deadline = time.monotonic() + seconds
        limit = self.socket.gettimeout()
        while (left := deadline - time.monotonic()) > 0:
            self.socket.settimeout(left)
            with contextlib.suppress(TimeoutError):
                self.frame()
        self.socket.settimeout(limit)

    def call(self, method, *parameters):
        """A method's result. Messages that come before it are ignored."""
        text = json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": [f"token:{TOKEN}", *parameters]})
        self.send(1, text.encode())
        while (message := self.receive()).get("id") != method:
            pass
        expect("result" in message, f"{method}: {message}")
        return message["result"]


def lines(response):
    """The lines of a response without its coding, as they arrive."""
    decoder = zlib.decompressobj(wbits=47) if response.headers["Content-Encoding"] else None
    rest = b""
    while block := response.read1(1 << 16):
        *whole, rest = (rest + (decoder.decompress(block) if decoder else block)).split(b"\n")
        for line in whole:
            yield line.decode() + "\n"


def events(response):
    """The events of a stream as they arrive."""
    name, data = None, ""
    for line in lines(response):
        if line.startswith("event: "):
            name = line[7:].rstrip()
        elif line.startswith("data: "):
            data += line[6:]
        elif line == "\n" and data:
            yield name, json.loads(data)
            name, data = None, ""


def check_console(client, base):
    deleted = client.send("DELETE", new_download(client, base))
    expect(deleted.status == 204, f"DELETE: {deleted.status}")
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
    # Also with the tag of a proxy that compresses it.
    for coding in ("identity", "gzip"):
        file = client.send("GET", base + "/console/console.js", token=None, Accept_Encoding=coding)
        expect(plain(file) == seen[base + "/console/console.js"].content, f"a file with {coding}")
        expect(file.headers["ETag"], f"a file with {coding} has no tag")
        again = client.send("GET", base + "/console/console.js", token=None, Accept_Encoding=coding, If_None_Match=file.headers["ETag"])
        expect(again.status == 304, f"a file that has not changed, with {coding}, {file.headers['ETag']}: {again.status}")
    for path, status in [("/docs", 200), ("/openapi.yaml", 200), ("/healthz", 200), ("/readyz", 200), ("/stats", 401), ("/nothing", 401)]:
        expect(client.send("GET", base + path, token=None).status == status, base + path)


def origin_of(client, base):
    """The address of the demo's own origin."""
    found = client.json("GET", base + "/search?term=prelude&limit=1")["results"][0]["downloadUrl"]
    return "http://" + urllib.parse.urlsplit(found).netloc


def new_download(client, base, **members):
    """The address of a new download that is paused, or has other members."""
    body = {"url": origin_of(client, base) + "/entity?size=7", "paused": True, "onDuplicate": "new", **members}
    return client.json("POST", base + "/downloads", json.dumps(body), 201)["links"]["self"]


def check_downloads(client, base):
    origin = origin_of(client, base)
    page = client.page

    # The stream's first event arrives at once, and later ones while it is open.
    begun = time.monotonic()
    stream = client.open("GET", base + "/downloads/events?interval=50", Accept_Encoding="gzip")
    expect(stream.status == 200 and stream.headers["Content-Type"] == "text/event-stream; charset=utf-8", f"the event stream: {stream.status}")
    received = events(stream)
    expect(next(received)[0] == "snapshot", "the stream begins with something else")
    expect(time.monotonic() - begun < 5, "the first event is held back")

    body = {"url": f"{origin}/entity?size={SIZE}", "filename": f"{client.setup.name}-{base[1:]} é 100%.bin", "onDuplicate": "new"}
    added = client.send("POST", base + "/downloads", json.dumps(body), Origin=page)
    expect(added.status == 201, f"a download: {added.status} {added.content[:200]}")
    download = json.loads(added.content)
    own = f"{base}/downloads/{download['id']}"
    expect(added.headers["Location"] == own, f"Location is {added.headers['Location']}")
    links = {"self": own, "file": f"{own}/file/{urllib.parse.quote(body['filename'])}", "events": own + "/events"}
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
    other = client.send("GET", links["file"], Range="bytes=1000000-1999999", If_Range='"other"')
    expect(other.status == 200 and other.content == whole.content, f"a range of another file: {other.status}")
    several = client.send("GET", links["file"], Range="bytes=0-9,-10")
    expect(several.status == 206 and several.headers["Content-Type"].startswith("multipart/byteranges"), f"two ranges: {several.status}")
    expect(client.send("GET", links["file"], Range=f"bytes={SIZE}-").status == 416, "a range behind the end")
    expect(client.send("HEAD", links["file"]).headers["Content-Length"] == str(SIZE), "HEAD")

    # An own page has this host and port, with https.
    other_scheme = "http" if page.startswith("https") else "https"
    refusal = 403 if client.setup.proxy.adds_fields else 200
    for origin_sent, status in [(page, 200), (f"{other_scheme}://{client.authority}", refusal), ("https://media.example", 403),
                                ("https://evil.example", 403)]:
        answer = client.send("POST", base + "/downloads/pause?label=none", Origin=origin_sent)
        expect(answer.status == status, f"a page of {origin_sent}: {answer.status}")

    # Bodies of 1 MiB pass, and longer ones do not.
    text = json.dumps({"url": f"{origin}/entity?size=1", "paused": True}).encode()
    for size, statuses in [(1 << 20, [200, 201]), ((1 << 20) + 1, [413])]:
        try:
            status = client.send("POST", base + "/downloads", text + b" " * (size - len(text))).status
        except OSError:
            # The connection is closed while the client sends, which may lose the response.
            status = 413
        expect(status in statuses, f"a body of {size} bytes: {status}")


def check_tags(client, base):
    """Requests with the tag that a client of a compressing proxy gets."""
    # Labels make the resource long enough to be compressed.
    labels = [f"label-{number}" for number in range(20)]
    own = new_download(client, base, labels=labels)
    got = client.send("GET", own, Accept_Encoding="gzip")
    tag = got.headers["ETag"]
    expect(json.loads(plain(got))["labels"] == labels and tag, f"a resource: {got.status}, tag {tag}")
    again = client.send("GET", own, Accept_Encoding="gzip", If_None_Match=tag)
    expect(again.status == 304, f"a resource that has not changed, {tag}: {again.status}")
    changed = client.send("PATCH", own, json.dumps({"priority": 1}), Accept_Encoding="gzip", If_Match=tag)
    expect(changed.status == 200, f"PATCH with If-Match: {tag}: {changed.status}")
    stale = client.send("PATCH", own, json.dumps({"priority": 2}), Accept_Encoding="gzip", If_Match=tag)
    expect(stale.status == 412, f"PATCH with the tag of an earlier version, {tag}: {stale.status}")
    deleted = client.send("DELETE", new_download(client, base))
    expect(deleted.status == 204, f"DELETE: {deleted.status}")
    bare = client.send("GET", own, Accept_Encoding="identity").headers["ETag"]
    compressed = client.send("GET", own, Accept_Encoding="gzip")
    return compressed.headers["ETag"].replace(bare.split('"')[1], "t") + (" compressed" if compressed.headers["Content-Encoding"] else "")


def check_wait(client, base):
    """A long poll is as long as it should be, also with the tag of a compressed response."""
    own = new_download(client, base, labels=[f"label-{number}" for number in range(20)])
    tag = client.send("GET", own, Accept_Encoding="gzip").headers["ETag"]
    begun = time.monotonic()
    waited = client.send("GET", f"{own}?wait={client.setup.wait}", limit=client.setup.wait + LIMIT, Accept_Encoding="gzip", If_None_Match=tag)
    took = time.monotonic() - begun
    expect(waited.status == 304 and took >= client.setup.wait, f"?wait={client.setup.wait} is {waited.status} after {took:.0f} s")


def check_events(client, base):
    """An event stream goes on, and events arrive at once, also after silence."""
    stream = client.open("GET", base + "/downloads/events", Accept_Encoding="gzip")
    received = events(stream)
    expect(next(received)[0] == "snapshot", "the stream begins with something else")
    time.sleep(client.setup.wait)
    own = new_download(client, base)
    begun = time.monotonic()
    found = any(name == "download" and data["links"]["self"] == own for name, data in received)
    expect(found, "the event stream has ended")
    expect(time.monotonic() - begun < 5, "an event after silence is held back")
    stream.connection.close()


def check_web_socket(client, base):
    """Notifications arrive, also after silence, in which pings are answered."""
    uri = f"{origin_of(client, base)}/entity?size=1000&x={client.setup.port}{base}"
    with contextlib.closing(WebSocket(client, base, client.setup.wait + LIMIT)) as web_socket:
        expect(web_socket.call("aria2.getVersion")["version"], "a version")
        web_socket.idle(client.setup.wait)
        added = web_socket.call("aria2.addUri", [uri])
        while web_socket.receive() != {"jsonrpc": "2.0", "method": "aria2.onDownloadComplete", "params": [{"gid": added}]}:
            pass


def check_clients(client, other, base):
    own = new_download(client, base)
    # The proxy replaces a client's own statements.
    lies = {
        "X_Forwarded_For": "203.0.113.77", "Forwarded": "for=203.0.113.77;host=localhost;proto=http", "X_Forwarded_Host": "evil.example",
        "X_Forwarded_Prefix": "/evil", "X_Forwarded_Proto": "http", "X_Real_IP": "203.0.113.77",
    }
    for name in client.setup.proxy.passes:
        del lies[name.replace("-", "_")]
    answer = client.json("GET", own, X_Request_Id=f"liar{base[1:]}{client.setup.port}", **lies)
    expect(answer["links"]["self"] == own, f"links are {answer['links']}")
    answer = client.send("POST", base + "/downloads/pause?label=none", Origin=client.page, **lies)
    expect(answer.status == 200, f"a page of ours with lies: {answer.status}")

    # Wrong tokens of one client are throttled, but no other client's.
    statuses = [client.send("GET", base + "/stats", token=f"guess-{number}").status for number in range(25)]
    expect(statuses[0] == 401 and statuses[-1] == 429, f"guesses: {statuses}")
    expect(client.send("GET", base + "/stats").status == 200, "the right token of one who guesses")
    expect(other.send("GET", base + "/stats", token="guess").status == 401, "another client's first guess")

    def is_logged():
        entries = [json.loads(line) for line in open(client.setup.log) if line.startswith("{")]
        mine = [entry for entry in entries if entry.get("requestId") == f"liar{base[1:]}{client.setup.port}"]
        failures = {entry["address"] for entry in entries if entry["message"] == "authentication failed"}
        peers = {entry["address"] for entry in entries if entry["message"] == "request" and entry.get("path") == "/stats"}
        return mine and {client.address, other.address} <= failures & peers

    wait_for("the log lacks requests or failures", is_logged)
    expect("203.0.113.77" not in open(client.setup.log).read(), "the log has what a client said")


def run(setup, number):
    """Checks a proxy; returns the faults, and how it changes tags. Each proxy and prefix has its own clients, since wrong tokens are
    remembered."""
    faults = []

    def part(work, *arguments):
        try:
            return work(*arguments)
        except (AssertionError, OSError, http.client.HTTPException, ValueError, LookupError) as error:
            faults.append(f"{work.__name__} at {arguments[-1]}: {error or repr(error)}")

    clients = {base: [Client(setup, f"127.0.{number + 1}.{2 * index + each}") for each in (1, 2)]
               for index, base in enumerate(setup.proxy.bases)}
    with concurrent.futures.ThreadPoolExecutor(6) as beside:
        for base, (client, _) in clients.items():
            for work in (check_wait, check_events, check_web_socket):
                beside.submit(part, work, client, base)
        for base, (client, other) in clients.items():
            part(check_console, client, base)
            part(check_downloads, client, base)
            tag = part(check_tags, client, base)
            if setup.proxy.adds_fields:
                part(check_clients, client, other, base)
    return faults, tag
