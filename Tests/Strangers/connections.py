"""Tests that connections without a token cannot keep those with one out."""

import collections
import contextlib

from crowd import KINDS, SOCKETS, Crowd
from network import OTHERS, SERVICE
from pawl import TOKEN, Client, Pawl, ask, check, collected, connect
from service import wait

#: The service's descriptors, the connections that they allow, and the limit of one address.
DESCRIPTORS, CONNECTIONS = 1024, 414
MOST_OF_ONE = CONNECTIONS // 2
#: Addresses: of a crowd, of one client that takes as many connections as it can, and of a client with the token.
CROWD, GREEDY, FRIEND = OTHERS[:-2], OTHERS[-2], OTHERS[-1]
#: Seconds after which a WebSocket without a secret is closed, the close code, and the additional seconds of a busy machine.
SECRET, MARGIN, NO_SECRET = 10, 5, 1008
#: WebSockets that do not displace another connection.
FEW = 50
#: Responses that each client must get during a crowd, and the time limit of each in seconds.
ANSWERS, ANSWER = 30, 4


class EventStream:
    """An event stream of a client with the token."""

    def __init__(self, source):
        self.connection = connect(source)
        self.connection.request("GET", "/downloads/events", headers={"Authorization": "Bearer " + TOKEN})
        self.response = self.connection.getresponse()
        check(self.response.status == 200, f"the event stream is answered with {self.response.status}, not with 200")

    def check_open(self):
        """Checks that events still arrive."""
        status, added = ask("POST", "/downloads", {"url": "http://origin.example/file", "paused": True})
        check(status == 201, f"a download is answered with {status}, not with 201: {added}")
        while added["id"].encode() not in (line := self.response.readline()):
            check(line, "the event stream of a client with the token was closed")

    def close(self):
        self.connection.close()


def check_one_address(network):
    """Checks that one address has at most half of all connections, and that others are served at the same time."""
    with network.others(), contextlib.ExitStack() as held:
        statuses = collections.Counter()
        for _ in range(CONNECTIONS):
            connection = held.enter_context(contextlib.closing(connect(GREEDY)))
            connection.request("GET", "/problems/not-found")
            response = connection.getresponse()
            response.read()
            statuses[response.status] += 1
        expected = {200: MOST_OF_ONE, 503: CONNECTIONS - MOST_OF_ONE}
        check(statuses == expected, f"{CONNECTIONS} connections of one address got {dict(statuses)}, not {expected}")
        for source in (FRIEND, CROWD[0]):
            status, _ = ask("GET", "/stats", source=source)
            check(status == 200, f"while one address has all that it may, {source} gets {status}, not 200")
    print(f"   one address: {dict(statuses)}")


def wait_for_end(crowd):
    """Waits until the first WebSockets are closed."""
    wait(lambda: not crowd.first_left(),
         lambda: f"the end of WebSockets without a secret; {crowd.first_left()} of {crowd.count} are open", SECRET + MARGIN)


def check_secret_limit(network):
    """Checks that WebSockets without a secret are closed in time, with the reason."""
    crowd = Crowd(SOCKETS, CROWD, FEW)
    with network.others():
        crowd.start()
    try:
        wait(crowd.is_complete, f"{FEW} WebSockets")
        wait_for_end(crowd)
    finally:
        crowd.end()
    ages, codes = zip(*crowd.ends)
    check(SECRET - 1 <= min(ages) and max(ages) <= SECRET + MARGIN,
          f"WebSockets without a secret were closed after {min(ages):.1f} to {max(ages):.1f} s, not after {SECRET} to {SECRET + MARGIN} s")
    check(set(codes) == {NO_SECRET}, f"WebSockets without a secret were closed with the codes {set(codes)}, not with {NO_SECRET}")
    print(f"   {FEW} WebSockets without a secret: closed after {min(ages):.1f} to {max(ages):.1f} s")


def check_crowd(network, pawl, name, full, wrong):
    """Checks that clients with the token are served while a crowd without one takes all connections.

    Then the service has `full` sockets open.
    """
    # One connection is the event stream's.
    crowd = Crowd(KINDS[name], CROWD, CONNECTIONS - 1)
    clients = [Client(network.home, SERVICE, "/stats", "/downloads"), Client(network.away, FRIEND, "/downloads", "/stats")]
    with network.others():
        crowd.start()
    with collected(wrong):
        wait(lambda: crowd.is_complete() and pawl.sockets() >= full, lambda: f"{full} sockets by {name}; there are {pawl.sockets()}")
        for client in clients:
            client.start()
        wait(lambda: all(client.count >= ANSWERS for client in clients), "answers to the clients")
        if crowd.kind is SOCKETS:
            # All of them are closed at once, unless they were displaced before.
            wait_for_end(crowd)
    crowd.end()
    for client in clients:
        client.end()
        with collected(wrong):
            client.check(f"beside {name}")
    slowest = max(client.slowest_answer for client in clients)
    with collected(wrong):
        check(slowest <= ANSWER, f"beside {name} an answer took {slowest:.2f} s, and may take {ANSWER} s")
    print(f"   {name}: {sum(client.count for client in clients)} answers, the slowest after {slowest:.2f} s; {len(crowd.ends)} connections "
          f"closed, after {crowd.oldest_end:.1f} s at most")


def scene(network):
    """Serves clients with a token during crowds without one; limits an address to half of all connections."""
    wrong = []
    with contextlib.closing(Pawl(descriptors=DESCRIPTORS)) as pawl:
        full = pawl.sockets() + CONNECTIONS
        with network.others():
            stream = EventStream(FRIEND)
        with collected(wrong):
            check_one_address(network)
        with collected(wrong):
            check_secret_limit(network)
        for name in KINDS:
            check_crowd(network, pawl, name, full, wrong)
        with collected(wrong):
            stream.check_open()
        stream.close()
        pawl.check_alive("after the crowds")
    check(not wrong, "; ".join(wrong))
