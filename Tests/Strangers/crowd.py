"""A crowd of strangers: connections without a token that stay, and are opened again when they are closed."""

import contextlib
import dataclasses
import select
import socket
import threading
import time

from network import SERVICE
from pawl import PORT, frame, handshake, post
from service import PATIENCE

#: A minimal receive buffer.
SMALL_BUFFER = 4096
#: Opcodes of frames (RFC 6455 §5.5).
CLOSE, PING, PONG = 8, 9, 10
ENDS = select.EPOLLHUP | select.EPOLLERR | select.EPOLLRDHUP
PAGE = f"GET /docs HTTP/1.1\r\nHost: {SERVICE}\r\n\r\n".encode()


@dataclasses.dataclass
class Kind:
    """The behaviour of a stranger: it sends an opening, then a piece each second, and reads or does not."""

    opening: bytes
    piece: bytes = b""
    reads: bool = True
    is_websocket: bool = False


SOCKETS = Kind(handshake(), frame(PING, b""), is_websocket=True)
KINDS = {
    "WebSockets without a secret": SOCKETS,
    # The minimum rate is 1 KiB per second.
    "slow bodies": Kind(post(1 << 20), bytes(1100)),
    # More than the kernel buffers. Bytes sent to a closed connection get a reset.
    "pages that are not read": Kind(PAGE * 100, PAGE, reads=False),
}


class Stranger:
    """One connection of a crowd."""

    def __init__(self, kind, address, is_first):
        self.kind, self.address, self.is_first = kind, address, is_first
        self.since = time.monotonic()
        self.unsent, self.received = kind.opening, b""
        #: Whether the service has read the opening, and the close code of a WebSocket.
        self.is_open, self.code = False, None
        self.socket = socket.socket()
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER)
        self.socket.bind((address, 0))
        self.socket.connect_ex((SERVICE, PORT))

    def send(self):
        """Sends the remaining bytes of the opening. Raises an OSError once the connection is closed."""
        self.unsent = self.unsent[self.socket.send(self.unsent):] if self.unsent else b""
        self.is_open |= not self.unsent and not self.kind.is_websocket

    def receive(self):
        """Reads available bytes. Raises an OSError once the connection is closed."""
        data = self.socket.recv(1 << 16)
        if not data:
            raise ConnectionError
        self.received += data
        if not self.kind.is_websocket:
            return
        if not self.is_open and b"\r\n\r\n" in self.received:
            self.received = self.received.partition(b"\r\n\r\n")[2]
            self.is_open = True
        # Frames of the service are short and not masked.
        while self.is_open and len(self.received) >= 2 and len(self.received) >= 2 + self.received[1]:
            opcode, length = self.received[0] & 15, self.received[1]
            payload, self.received = self.received[2:2 + length], self.received[2 + length:]
            if opcode == PING:
                self.socket.send(frame(PONG, payload))
            if opcode == CLOSE:
                self.code = int.from_bytes(payload[:2], "big")
                raise ConnectionError

    def go_on(self):
        """Sends another piece."""
        if self.is_open and self.kind.piece:
            with contextlib.suppress(OSError):
                self.socket.send(self.kind.piece)


class Crowd(threading.Thread):
    """A number of strangers of a kind, from several addresses of this thread's namespace. A closed connection is replaced by another."""

    def __init__(self, kind, addresses, count):
        super().__init__(daemon=True)
        self.kind, self.addresses, self.count = kind, addresses, count
        self.poll = select.epoll()
        self.strangers = {}
        #: The age of each closed connection, and the code if it was a WebSocket with one.
        self.ends = []
        self.over = threading.Event()

    def is_complete(self):
        return sum(stranger.is_open for stranger in list(self.strangers.values())) == self.count

    @property
    def oldest_end(self):
        """The age of the oldest at its close."""
        return max((age for age, _ in list(self.ends)), default=0)

    def first_left(self):
        """The number of open first connections."""
        return sum(stranger.is_first for stranger in list(self.strangers.values()))

    def run(self):
        for number in range(self.count):
            self.join_in(self.addresses[number % len(self.addresses)], True)
        due = time.monotonic() + 1
        while not self.over.is_set():
            for descriptor, event in self.poll.poll(0.1):
                self.serve(self.strangers[descriptor], event)
            if time.monotonic() >= due:
                due += 1
                for stranger in list(self.strangers.values()):
                    stranger.go_on()
        for stranger in self.strangers.values():
            stranger.socket.close()

    def join_in(self, address, is_first=False):
        stranger = Stranger(self.kind, address, is_first)
        self.strangers[stranger.socket.fileno()] = stranger
        self.poll.register(stranger.socket, select.EPOLLOUT)

    def serve(self, stranger, event):
        try:
            if event & ENDS and not event & select.EPOLLIN:
                raise ConnectionError
            if event & select.EPOLLIN:
                stranger.receive()
            if event & select.EPOLLOUT:
                stranger.send()
                if not stranger.unsent:
                    self.poll.modify(stranger.socket, select.EPOLLRDHUP | (select.EPOLLIN if self.kind.reads else 0))
        except BlockingIOError:
            pass
        except OSError:
            self.replace(stranger)

    def replace(self, stranger):
        self.ends.append((time.monotonic() - stranger.since, stranger.code))
        del self.strangers[stranger.socket.fileno()]
        self.poll.unregister(stranger.socket)
        stranger.socket.close()
        self.join_in(stranger.address)

    def end(self):
        self.over.set()
        self.join(PATIENCE)
        self.poll.close()


