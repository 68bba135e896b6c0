"""The costs of calls without a secret before their refusal: memory, and the time of other clients."""

import contextlib
import select
import socket
import threading

from limits import memory_group
from network import SERVICE
from pawl import PORT, Client, Pawl, check, frame, handshake, post
from service import PATIENCE, wait

#: The service's memory limit in bytes, as in the Kubernetes manifest; bodies may use 256 MiB of it.
LIMIT, MOST = 512 << 20, 384 << 20
#: The bytes of the longest message, and its maximum number of calls.
LONGEST, MOST_CALLS = 1 << 20, 4096
#: Connections that post one message each, and messages on one WebSocket.
POSTS, MESSAGES = 300, 16
#: Time limits in seconds: of paths that wait for nothing, and of lists, which wait for long messages.
ANSWERS = {"/stats": 2, "/readyz": 2, "/downloads": 4}
#: A minimal receive buffer.
SMALL_BUFFER = 4096
#: The time limit in seconds for the responses to all strangers, or their closes.
LIMIT_OF_ANSWERS = 30


def repeated(item, head=b"[", tail=b"]", most=LONGEST):
    """The longest message with the maximum number of repetitions of an item."""
    count = min(most, (LONGEST - len(head) - len(tail) + 1) // (len(item) + 1))
    return head + b",".join([item] * count) + tail


MULTICALL = repeated(b"1", b'{"id":1,"method":"system.multicall","params":[[', b"]]}", MOST_CALLS)
LISTING = b'{"id":"' + b"x" * 200 + b'","method":"system.listMethods"}'
KINDS = {
    "multicalls of what is no call": repeated(MULTICALL),
    "listMethods as often as may be": repeated(LISTING, most=MOST_CALLS),
    "listMethods more often": repeated(b'{"id":1,"method":"system.listMethods"}'),
    "numbers in place of calls": repeated(b"1"),
    "objects that are no calls": repeated(b'{"a":1}'),
    "small messages of many calls": repeated(b"1", most=MOST_CALLS),
    "an id that is a list": repeated(b"1.5e0", b'{"method":"system.listMethods","id":[', b"]}"),
}


class Stranger:
    """A connection that sends messages without a secret, and reads no response."""

    def __init__(self, head, *messages, is_websocket=False):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER)
        self.socket.settimeout(PATIENCE)
        self.is_open = threading.Event()
        self.thread = threading.Thread(target=self.send, args=(head, messages, is_websocket), daemon=True)
        self.thread.start()

    def send(self, head, messages, is_websocket):
        try:
            self.socket.connect((SERVICE, PORT))
            self.socket.sendall(head)
            response = b""
            while is_websocket and not response.endswith(b"\r\n\r\n"):
                response += self.socket.recv(1) or b"\r\n\r\n"
            self.is_open.set()
            for message in messages:
                self.socket.sendall(message)
        except OSError:
            # The service or this test has closed it.
            self.is_open.set()

    def is_answered(self):
        """Whether there is something to read: a response or the end."""
        return self.is_open.is_set() and bool(select.select([self.socket], [], [], 0)[0])

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join(PATIENCE)
        self.socket.close()


def flood(network, message):
    """Sends a message on many connections at once, and waits until each has a response."""
    with network.others():
        strangers = [Stranger(post(len(message)), message) for _ in range(POSTS)]
        strangers.append(Stranger(handshake(), *[frame(1, message)] * MESSAGES, is_websocket=True))
    try:
        wait(lambda: all(stranger.is_answered() for stranger in strangers), "an answer to each stranger", LIMIT_OF_ANSWERS)
    finally:
        for stranger in strangers:
            stranger.close()


def scene(network):
    """Long messages without a secret use little memory, and delay no client."""
    with memory_group(LIMIT) as group, contextlib.closing(Pawl(group=group)) as pawl:
        if not group:
            print("   no control group can be made here: only the resident memory is looked at")
        client = Client(network.home, SERVICE, *ANSWERS)
        client.start()
        for kind, message in KINDS.items():
            flood(network, message)
            pawl.check_alive(f"at {kind}")
        client.end()
        client.check("during long messages without a secret")
        for path, most in ANSWERS.items():
            check(client.slowest[path] <= most, f"{path} took {client.slowest[path]:.2f} s during long messages, and may take {most} s")
        peak, used = pawl.peak(), group.peak() if group else None
        print(f"   {peak >> 20} MiB resident at most, of {MOST >> 20}; " + (f"{used >> 20} MiB in its group; " if used else "")
              + f"{client.count} answers, the slowest after {client.slowest_answer:.2f} s")
        check(peak <= MOST, f"long messages took {peak >> 20} MiB, and may take {MOST >> 20} MiB")
