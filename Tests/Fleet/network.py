"""The peers of the failure test's replicas: relays with faults, a faulty origin, and a receiver of webhooks.

A separate process, so that the test does not delay it. `network.py <log>` prints the ports of the origin and the receiver. It takes commands,
one on a line: `relay <target>` returns the port of a new relay, `set <port> <mode>` and `cut <port>` an empty line. The log has each request
as a line of JSON.
"""

import asyncio
import base64
import json
import pathlib
import random
import re
import sys
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Support"))
import origin  # noqa: E402

PIECE = 64 << 10
#: A paced response is sent in at least this many pieces per second.
PIECES_PER_SECOND = 20


async def listen(serve):
    """Calls `serve(reader, writer)` for each connection; returns the port."""

    async def guarded(reader, writer):
        try:
            await serve(reader, writer)
        except (OSError, EOFError, asyncio.LimitOverrunError, ValueError):
            pass
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(guarded, "127.0.0.1", 0, backlog=256)
    return server.sockets[0].getsockname()[1]


class Relay:
    """Relays connections to a port, with faults on demand.

    `relay`: bytes are passed on. `stall`: they wait. `swallow`: they are discarded. `answers`: the connection is cut at the first bytes of a
    response. `refuse`: connections are refused.
    """

    def __init__(self, target):
        self.target = target
        self.mode, self.changed, self.open = "relay", asyncio.Event(), set()

    def set(self, mode):
        self.mode = mode
        self.changed.set()
        self.changed = asyncio.Event()
        if mode == "refuse":
            self.cut()

    def cut(self):
        """Ends all open connections."""
        for transport in list(self.open):
            transport.abort()

    async def serve(self, reader, writer):
        if self.mode == "refuse":
            return
        there_reader, there = await asyncio.open_connection("127.0.0.1", self.target)
        ends = {writer.transport, there.transport}
        self.open |= ends
        try:
            pumps = [asyncio.ensure_future(self.pump(reader, there, False)), asyncio.ensure_future(self.pump(there_reader, writer, True))]
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
        finally:
            self.open -= ends
            there.transport.abort()

    async def pump(self, source, sink, answers):
        while data := await source.read(PIECE):
            while self.mode == "stall":
                await self.changed.wait()
            if self.mode == "swallow":
                continue
            if self.mode == "answers" and answers:
                return
            sink.write(data)
            await sink.drain()


async def read_request(reader):
    """Method, target, fields and body."""
    head = await reader.readuntil(b"\r\n\r\n")
    line, *lines = head.decode("latin-1").split("\r\n")[:-2]
    method, target, _ = line.split(" ")
    fields = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines)}
    body = await reader.readexactly(int(fields.get("content-length", 0)))
    return method, target, fields, body


def response(status, fields=(), length=0):
    lines = [f"HTTP/1.1 {status} -", f"Content-Length: {length}", *(f"{name}: {value}" for name, value in fields)]
    return "\r\n".join(lines + ["", ""]).encode("latin-1")


class Origin:
    """Serves all files of all hosts. Replicas use it as their proxy; the user in the proxy's URL names the replica.

    `/file/<size>/<name>?pace=<n>&busy=<n>&breaks=<n>`: `pace` bytes per second; the first `busy` requests get 503, and the next `breaks`
    requests break off.

    `/feed/<name>?since=<time>&until=<time>`: a feed that publishes an episode each second between two Unix times. The order, the dates and the
    links of its episodes change with each request, and some requests get 503.
    """

    def __init__(self, note):
        self.note, self.counts, self.fetches = note, {}, 0

    async def serve(self, reader, writer):
        while True:
            method, target, fields, _ = await read_request(reader)
            parts = urllib.parse.urlsplit(target)
            if parts.path.startswith("/feed/"):
                await self.list(parts, fields, writer)
                continue
            match = re.fullmatch(r"/file/(\d+)/(.+)", parts.path)
            if not match:
                writer.write(response(404))
                continue
            size, name = int(match[1]), match[2]
            query = {key: int(value) for key, value in urllib.parse.parse_qsl(parts.query)}
            life = base64.b64decode(fields.get("proxy-authorization", "Basic Oj8=").split()[1]).decode().split(":")[0]
            tag = f'"{name}"'
            asked = re.fullmatch(r"bytes=(\d+)-(\d*)", fields.get("range", ""))
            partial = asked is not None and fields.get("if-range") in (None, tag)
            first = int(asked[1]) if partial else 0
            last = min(int(asked[2]), size - 1) if partial and asked[2] else size - 1
            count = self.counts[name] = self.counts.get(name, 0) + 1
            if count <= query.get("busy", 0):
                writer.write(response(503))
                continue
            if first >= size:
                writer.write(response(416, [("Content-Range", f"bytes */{size}")]))
                continue
            end = last + 1
            breaks = count - query.get("busy", 0) <= query.get("breaks", 0)
            if breaks:
                end = first + random.Random(f"{name} {count}").randrange(last + 1 - first)
            if reader.at_eof():
                # Closed before it was served.
                return
            self.fetches += 1
            number = self.fetches
            self.note(fetch=number, life=life, host=parts.hostname, name=name, first=first, last=last, began=time.time())
            span = [("Content-Range", f"bytes {first}-{last}/{size}")] if partial else []
            writer.write(response(206 if partial else 200, [
                *span, ("ETag", tag), ("Accept-Ranges", "bytes"), ("Content-Type", "application/octet-stream")], last + 1 - first))
            sent, ended = 0, None
            pace = query.get("pace", 0)
            piece = min(PIECE, pace // PIECES_PER_SECOND + 1) if pace else PIECE
            body = memoryview(origin.content(name, size))[:end]
            try:
                while first + sent < end and not reader.at_eof() and not writer.transport.is_closing():
                    part = body[first + sent:first + sent + piece]
                    if first + sent + len(part) > last:
                        # From here on, the client may have all bytes at any moment.
                        ended = time.time()
                    writer.write(part)
                    sent += len(part)
                    await writer.drain()
                    if pace:
                        await asyncio.sleep(len(part) / pace)
            finally:
                self.note(ended=number, at=ended or time.time(), sent=sent)
            if first + sent <= last:
                return


    async def list(self, parts, fields, writer):
        name, query = parts.path.split("/")[2], dict(urllib.parse.parse_qsl(parts.query))
        life = base64.b64decode(fields.get("proxy-authorization", "Basic Oj8=").split()[1]).decode().split(":")[0]
        dice, now = random.Random(), time.time()
        self.fetches += 1
        number = self.fetches
        self.note(feed=number, name=name, life=life, began=now)
        await asyncio.sleep(dice.choice([0, 0, 0.2, dice.random()]))
        self.note(listed=number, at=time.time())
        count = max(0, int(min(now, float(query["until"])) - float(query["since"])))
        if dice.random() < 0.1 and now < float(query["until"]):
            writer.write(response(503))
            return
        episodes = [
            f"<item><guid>{name}-{each}</guid><title>{name}-{each}</title><pubDate>{dice.randrange(1, 28):02} Oct 2024 10:00:00 GMT</pubDate>"
            f"<enclosure type=\"audio/mpeg\" url=\"http://{parts.hostname}/file/{1000 + each}/{name}-{each}?link={dice.randrange(3)}\"/></item>"
            for each in range(1, count + 1)]
        dice.shuffle(episodes)
        body = f"<rss version=\"2.0\"><channel><title>{name}</title>{''.join(episodes)}</channel></rss>".encode()
        writer.write(response(200, [("Content-Type", "application/rss+xml")], len(body)) + body)


class Receiver:
    """Receives messages of webhooks, some of them only when they are repeated."""

    def __init__(self, note):
        self.note, self.refused = note, set()

    async def serve(self, reader, writer):
        while True:
            _, target, fields, body = await read_request(reader)
            delivery = fields["webhook-id"]
            if random.Random(target).random() < 0.1 and delivery not in self.refused:
                self.refused.add(delivery)
                writer.write(response(503))
            else:
                self.note(message=target[1:], delivery=delivery, data=json.loads(body)["data"])
                writer.write(response(204))
            await writer.drain()


async def main():
    with open(sys.argv[1], "ab", 0) as log:
        def note(**what):
            log.write((json.dumps(what) + "\n").encode())

        print(await listen(Origin(note).serve), await listen(Receiver(note).serve), flush=True)
        relays = {}
        commands = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
        while line := await commands.readline():
            verb, number, *rest = line.decode().split()
            if verb == "relay":
                relay = Relay(int(number))
                port = await listen(relay.serve)
                relays[port] = relay
                print(port, flush=True)
            elif verb == "set":
                relays[int(number)].set(*rest)
                print("done", flush=True)
            else:
                relays[int(number)].cut()
                print("done", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
