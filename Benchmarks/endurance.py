"""What clients that don't behave, and a system without descriptors, do to the others. Fails if it is not what was promised."""

import os
import resource
import socket
import statistics
import time

import harness
from harness import Pawl

GET = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def slow(executable):
    """2,000 connections that drip a head or a body, hardly read or never do, while one that behaves asks on."""
    allow_descriptors()
    with harness.Scratch() as directory:
        pawl = harness.started(Pawl(executable, directory))
        alone = latencies(pawl, 3)
        descriptors = open_descriptors(pawl)
        crowd = Crowd(pawl.address)
        begun = time.monotonic()
        among = []
        while time.monotonic() < begun + 75 and crowd.waiting:
            among += latencies(pawl, 0.5)
            crowd.drip()
        ended = {kind: crowd.ended(kind) for kind in ("head", "body", "silent")}
        crowd.close()
        wait_until(lambda: open_descriptors(pawl) <= descriptors, 10, "descriptors to come back")
        before = pawl.cpu()
        time.sleep(2)
        idle = (pawl.cpu() - before) / 2
        resident, own = pawl.resident()
    p99 = lambda values: statistics.quantiles(values, n=100)[98] * 1000
    print("2,000 connections that drip heads or bodies, hardly read or never do (wanted: others undisturbed, slow ones closed on time)")
    print(f"  others: p99 {p99(alone):.2f} ms before, {p99(among):.2f} ms meanwhile, {max(among) * 1000:.0f} ms at worst")
    for kind, limit in (("head", 10), ("body", 20), ("silent", 60)):
        times, still = ended[kind]
        print(f"  {kind:6} {len(times)} closed after {min(times, default=0):.0f} to {max(times, default=0):.0f} s"
              f" (limit {limit} s), {still} not")
        if still:
            raise SystemExit(f"{still} connections of the kind '{kind}' were not closed")
    print(f"  afterwards: {resident:.1f} MiB resident ({own:.1f} anonymous), {idle * 100:.1f} % of one core, no descriptor left behind")


class Crowd:
    """The clients that don't behave."""

    def __init__(self, address):
        self.begun = []
        self.clients, self.kinds, self.times = [], [], {}
        for number in range(2000):
            client = socket.socket()
            kind = ("head", "body", "silent", "slow")[number % 4]
            if kind in ("silent", "slow"):
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(address)
            if kind == "head":
                client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")
            elif kind == "body":
                client.sendall(b"POST /downloads HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n")
            else:
                client.setblocking(False)
                client.send(b"GET /openapi.yaml HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 100)
            client.setblocking(False)
            self.begun.append(time.monotonic())
            self.clients.append(client)
            self.kinds.append(kind)

    @property
    def waiting(self):
        return any(kind != "slow" and number not in self.times for number, kind in enumerate(self.kinds))

    def drip(self):
        for number, (client, kind) in enumerate(zip(self.clients, self.kinds)):
            if number in self.times:
                continue
            try:
                if kind in ("head", "body"):
                    client.send(b"x")
                    ended = bool(client.recv(4096, socket.MSG_DONTWAIT))
                elif kind == "slow":
                    client.recv(2048)
                    continue
                else:
                    # 1 is ESTABLISHED: what a client that never reads learns of the server's end.
                    ended = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != 1
            except BlockingIOError:
                continue
            except OSError:
                ended = True
            if ended:
                self.times[number] = time.monotonic() - self.begun[number]

    def ended(self, kind):
        numbers = [number for number, other in enumerate(self.kinds) if other == kind]
        times = [self.times[number] for number in numbers if number in self.times]
        return times, len(numbers) - len(times)

    def close(self):
        for client in self.clients:
            client.close()


def exhausted(executable):
    """No descriptor is left for another connection."""
    with harness.Scratch() as directory:
        pawl = harness.started(Pawl(executable, directory))
        pawl.get("/healthz")
        room = 20
        _, most = resource.prlimit(pawl.child.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pawl.child.pid, resource.RLIMIT_NOFILE, (open_descriptors(pawl) + room, most))
        served, left = [], []
        for _ in range(3 * room):
            client = socket.create_connection(pawl.address)
            client.sendall(GET)
            client.settimeout(1 if len(served) < room else 0.02)
            try:
                client.recv(4096)
                served.append(client)
            except TimeoutError:
                left.append(client)
        before = pawl.cpu()
        for _ in range(20):
            for client in served:
                client.settimeout(5)
                client.sendall(GET)
                if b" 200 " not in client.recv(4096):
                    raise SystemExit("a connection that was there got no answer")
            time.sleep(0.1)
        share = (pawl.cpu() - before) / 2
        freed = len(served)
        for client in served:
            client.close()
        answered = 0
        for client in left[:freed]:
            client.settimeout(10)
            answered += b" 200 " in client.recv(4096)
    print("out of descriptors (wanted: connections go on, accepting resumes by itself, no busy loop)")
    print(f"  {freed} connections served on with {share * 100:.0f} % of one core, {len(left)} waited;"
          f" {answered} of {min(freed, len(left))} answered once there was room")
    if answered < min(freed, len(left)) or share > 0.2:
        raise SystemExit("not as promised")


def latencies(pawl, seconds):
    """How long answers take one client that asks one at a time, in seconds each."""
    taken = []
    with socket.create_connection(pawl.address) as client:
        end = time.monotonic() + seconds
        while (now := time.monotonic()) < end:
            client.sendall(GET)
            if b" 200 " not in client.recv(4096):
                raise SystemExit("a client that behaves got no answer")
            taken.append(time.monotonic() - now)
    return taken


def open_descriptors(server):
    return len(os.listdir(f"/proc/{server.child.pid}/fd"))


def wait_until(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"waited for {what} in vain")
        time.sleep(0.05)


def allow_descriptors():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
