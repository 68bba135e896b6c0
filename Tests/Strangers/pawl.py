"""The tested service, the clients with its token, and the messages of strangers."""

import collections
import contextlib
import http.client
import itertools
import json
import os
import pathlib
import re
import resource
import subprocess
import threading
import time

from network import SERVICE
from service import PATIENCE, Service

PORT = 8080
TOKEN = "a-token-of-the-tests"
#: Seconds between two requests of a client.
PAUSE = 0.1


class Violation(Exception):
    """A violated rule."""


#: The causes of a failed check: a violation, a timeout, or a connection that the service has closed.
FAILURES = (Violation, AssertionError, OSError, http.client.HTTPException)


def check(holds, what):
    """Raises a violation with the expected and the actual value, unless they are equal."""
    if not holds:
        raise Violation(what)


@contextlib.contextmanager
def collected(wrong):
    """Adds a violation to a list, so that the other checks continue."""
    try:
        yield
    except FAILURES as failure:
        wrong.append(str(failure))


class Pawl(Service):
    """`pawl serve` with a token, on the link between the namespaces."""

    def __init__(self, *flags, group=None, descriptors=None, hosts=None, **environment):
        """`group` is a memory group, `descriptors` the maximum number of descriptors, and `hosts` the text of its /etc/hosts."""
        self.group, self.descriptors, self.hosts, self.environment = group, descriptors, hosts, environment
        super().__init__(*flags, token=TOKEN)

    def start(self):
        command = [
            os.environ["PAWL_BINARY"], "serve", "--host", SERVICE, "--port", str(PORT), "--data-dir", self.directory + "/data",
            "--token", TOKEN, "--log-level", "error", *self.flags]
        if self.hosts:
            path = pathlib.Path(self.directory, "hosts")
            path.write_text(self.hosts)
            command = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"', str(path), *command]
        # A cluster in which this test itself runs has services, too.
        kept = {name: value for name, value in os.environ.items() if not re.match(r"PAWL_|.*_SERVICE_HOST$", name)}
        self.log = open(self.directory + "/log", "ab")
        self.child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self.log, text=True, env=kept | self.environment, preexec_fn=self.prepare)
        if not self.child.stdout.readline().startswith("listening on "):
            said = pathlib.Path(self.log.name).read_text()
            self.close()
            raise Violation(f"the service did not start: {said}")

    def prepare(self):
        """Sets the limits of the new process."""
        if self.group:
            self.group.enter()
        if self.descriptors:
            resource.setrlimit(resource.RLIMIT_NOFILE, (self.descriptors, self.descriptors))

    def peak(self):
        """The peak of resident memory so far, in bytes."""
        return int(re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path(f"/proc/{self.child.pid}/status").read_text())[1]) << 10

    def sockets(self):
        """The number of its open sockets."""
        count, directory = 0, f"/proc/{self.child.pid}/fd"
        for name in os.listdir(directory):
            with contextlib.suppress(FileNotFoundError):
                count += os.readlink(f"{directory}/{name}").startswith("socket:")
        return count

    def check_alive(self, when):
        """Checks that it responds, or reports its exit status."""
        try:
            status = ask("GET", "/readyz")[0]
        except FAILURES as error:
            with contextlib.suppress(subprocess.TimeoutExpired):
                raise Violation(f"the service ended {when}, with status {self.child.wait(10)}") from None
            raise Violation(f"the service answers nothing {when}: {error!r}") from None
        check(status == 200, f"/readyz is answered with {status} {when}, not with 200")


def connect(source=SERVICE):
    """A connection from an address of this thread's namespace."""
    return http.client.HTTPConnection(SERVICE, PORT, timeout=PATIENCE, source_address=(source, 0))


def ask(method, path, body=None, source=SERVICE):
    """Sends a request with the token on a new connection, and returns status and JSON of the response."""
    connection = connect(source)
    headers = {"Authorization": "Bearer " + TOKEN}
    if body is not None:
        headers["Content-Type"] = "application/json"
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        text = response.read()
        return response.status, json.loads(text) if "json" in response.headers.get("Content-Type", "") else text
    finally:
        connection.close()


class Client(threading.Thread):
    """A client with the token, which requests paths one by one, and records the responses."""

    def __init__(self, namespace, source, *paths):
        super().__init__(daemon=True)
        self.namespace, self.source, self.paths = namespace, source, paths
        self.statuses, self.slowest = collections.Counter(), collections.Counter()
        self.over = threading.Event()

    def run(self):
        self.namespace.enter()
        for path in itertools.cycle(self.paths):
            begun = time.monotonic()
            try:
                status = ask("GET", path, source=self.source)[0]
            except FAILURES as failure:
                status = repr(failure)
            self.slowest[path] = max(self.slowest[path], time.monotonic() - begun)
            self.statuses[status] += 1
            if self.over.wait(PAUSE):
                return

    @property
    def count(self):
        return self.statuses.total()

    @property
    def slowest_answer(self):
        return max(self.slowest.values(), default=0)

    def end(self):
        self.over.set()
        if self.is_alive():
            self.join(PATIENCE)

    def check(self, when):
        """Checks that every request got 200."""
        check(set(self.statuses) == {200}, f"{when} a client at {self.source} with the token got {dict(self.statuses)}, not 200 alone")


def handshake():
    """The request that opens a WebSocket. It has no secret."""
    return (
        f"GET /jsonrpc HTTP/1.1\r\nHost: {SERVICE}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n").encode()


def post(length):
    """The head of a call without a secret."""
    return f"POST /jsonrpc HTTP/1.1\r\nHost: {SERVICE}\r\nContent-Length: {length}\r\n\r\n".encode()


def frame(opcode, payload):
    """A frame of a WebSocket's client (RFC 6455 §5.2), masked with zeros."""
    count = len(payload)
    if count < 126:
        length = bytes([0x80 | count])
    else:
        length = bytes([0x80 | 126]) + count.to_bytes(2, "big") if count < 1 << 16 else bytes([0x80 | 127]) + count.to_bytes(8, "big")
    return bytes([0x80 | opcode]) + length + bytes(4) + payload
