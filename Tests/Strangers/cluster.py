"""Tests that clients cannot have the service connect to the cluster in which it runs, where addresses look like public ones."""

import contextlib
import http.client
import http.server
import threading

from pawl import Pawl, ask, check
from service import PATIENCE, wait

#: The first address of the block of Google's clusters, an address as of an API server, and one of the public Internet.
SERVICES, SERVICE_BLOCK = "34.118.224.1", "34.118.224.0/20"
API_SERVER = "198.41.0.1"
ORIGIN = "93.184.215.14"
INSIDE = {SERVICES: "service.example", API_SERVER: "api.example"}
REFUSAL = "destination-forbidden"
CONTENT = b"content" * 1000


class Handler(http.server.BaseHTTPRequestHandler):
    """Responds to `/file` with a file, to `/to?<URL>` with a redirect to it, and to a POST without content."""

    def log_message(self, *_):
        pass

    def respond(self, status, content=b"", **fields):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **fields}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self):
        path, _, target = self.path.partition("?")
        if path == "/to":
            self.respond(302, Location=target)
        else:
            self.respond(200, CONTENT)

    def do_POST(self):
        self.server.posts.append(self.path)
        self.respond(200)


class Server(http.server.ThreadingHTTPServer):
    """An HTTP server at port 80 of an address of this thread's namespace. It counts connections."""

    daemon_threads = True

    def __init__(self, address):
        super().__init__((address, 80), Handler)
        self.connections, self.posts = 0, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def process_request(self, *arguments):
        self.connections += 1
        super().process_request(*arguments)

    def close(self):
        self.shutdown()
        self.server_close()


def end_of(url, **members):
    """Adds a download, and returns the code of its refusal or failure, or its last state."""
    status, answer = ask("POST", "/downloads", {"url": url, "onDuplicate": "new", **members})
    if status == 403:
        return answer["code"]
    check(status == 201, f"the download of {url} is answered with {status}, not with 201 or 403: {answer}")
    path = "/downloads/" + answer["id"]
    shown = wait(lambda: ended(path), f"the end of the download of {url}")
    return (shown["error"] or {}).get("code") or shown["state"]


def ended(path):
    """The download at a path of the API, once it has ended."""
    shown = ask("GET", path)[1]
    return shown if shown["state"] in ("completed", "failed") else None


def webhook_outcomes():
    """The number of calls of webhooks by outcome."""
    figures = dict(line.rsplit(" ", 1) for line in ask("GET", "/metrics")[1].decode().splitlines() if not line.startswith("#"))
    outcomes = ("delivered", "retried", "given_up")
    return {outcome: float(figures[f'pawl_webhook_deliveries_total{{outcome="{outcome}"}}']) for outcome in outcomes}


def attempts_inside(address, name):
    """Makes the service connect to an internal address in several ways; returns for each attempt its description, its result and the expected one."""
    for host in (address, f"[::ffff:{address}]", name):
        inside = f"http://{host}/file"
        yield f"a download of {inside}", end_of(inside), REFUSAL
        yield f"a redirect to {inside}", end_of(f"http://{ORIGIN}/to?{inside}"), REFUSAL
        before = webhook_outcomes()
        end = end_of(f"http://{ORIGIN}/file", webhook=f"http://{host}/hook")
        # The address of a name is known when it is called.
        yield f"a download with a webhook at {host}", end, "completed" if host == name else REFUSAL
        if end == "completed":
            wait(lambda: webhook_outcomes() != before, f"the end of the webhook at {host}")
            after = webhook_outcomes()
            yield f"a webhook at {host}", [outcome for outcome in after if after[outcome] != before[outcome]], ["given_up"]


def scene(network):
    """Refuses services of the cluster under each of their names, and reaches others."""
    network.place(SERVICES, SERVICE_BLOCK)
    network.place(API_SERVER)
    network.place(ORIGIN)
    hosts = "".join(f"{address} {name}\n" for address, name in INSIDE.items())
    with contextlib.ExitStack() as stack:
        with network.others():
            servers = {address: stack.enter_context(contextlib.closing(Server(address))) for address in (*INSIDE, ORIGIN)}
        pawl = stack.enter_context(contextlib.closing(Pawl(hosts=hosts, KUBERNETES_SERVICE_HOST=API_SERVER)))
        code = end_of(f"http://{ORIGIN}/file", webhook=f"http://{ORIGIN}/hook")
        check(code == "completed", f"a download from {ORIGIN} ends with {code}, not with completed")
        wait(lambda: servers[ORIGIN].posts == ["/hook"], lambda: f"its webhook; {ORIGIN} was sent {servers[ORIGIN].posts}")
        attempts = [attempt for address, name in INSIDE.items() for attempt in attempts_inside(address, name)]
        wrong = [f"{what} ended as {end}, not as {expected}" for what, end, expected in attempts if end != expected]
        wrong += [f"{address} got {servers[address].connections} connections, not 0" for address in INSIDE if servers[address].connections]
        check(not wrong, "; ".join(wrong))
        # The routes lead to it.
        for address in INSIDE:
            with contextlib.closing(http.client.HTTPConnection(address, timeout=PATIENCE)) as connection:
                connection.request("GET", "/file")
                check(connection.getresponse().read() == CONTENT, f"{address} does not respond to this test")
        check(pawl.child.poll() is None, "the service ended")
        print(f"   {len(attempts)} attempts; {servers[ORIGIN].connections} connections to {ORIGIN}, none to {' or '.join(INSIDE)}")
