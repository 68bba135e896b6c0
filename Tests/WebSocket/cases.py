"""Runs the cases of Autobahn's test suite, except those about compression, against an echo server.

    cases.py DIRECTORY PORT [PREFIX…]     the cases in DIRECTORY whose numbers begin with a prefix; by default all

The suite is written in Python 2 for an old version of its library. The cases, with their sent and expected messages, are translated here and
run with today's library, a client that is independent of Pawl. Prints failed cases, and ends with status 1 if there are any.
"""

import asyncio
import importlib
import fissix.refactor
import pathlib
import sys
import warnings

from autobahn.asyncio.websocket import WebSocketClientFactory, WebSocketClientProtocol

# The accepted results of a case. Informational cases describe choices that RFC 6455 leaves to the server.
PASSED = {"OK", "INFORMATIONAL"}


def translate(source, target):
    """Translates the cases to Python 3."""
    target.mkdir(exist_ok=True)
    tool = fissix.refactor.RefactoringTool(fissix.refactor.get_fixers_from_package("fissix.fixes"))
    for file in source.glob("case*.py"):
        # The suite does not run case 9.9 either.
        if file.name.startswith(("case12", "case13", "case9_9_")):
            continue
        # Strings are bytes in Python 2: here each character stands for one.
        text = file.read_text(encoding="latin-1")
        text = text.replace("len(self.payload) / self.p.", "len(self.payload) // self.p.")
        text = text.replace("binascii.b2a_hex(", "str(").replace("v.validate(vss[:i])", "v.validate(vss[:i].encode('latin-1'))")
        text = text.replace(".tostring()", ".tobytes().decode('latin-1')").replace("(object, Case, )", "(Case,)")
        text = str(tool.refactor_string(text + "\n", file.name))
        text = text.replace("from .case", "from case")
        (target / file.name).write_text(text, encoding="utf-8")


def load(directory):
    """All cases by their numbers."""
    sys.path.insert(0, str(directory))
    base = importlib.import_module("case").Case
    base.compare = lambda self, one, other: one == other
    cases = {}
    for file in sorted(directory.glob("case*.py")):
        for value in vars(importlib.import_module(file.stem)).values():
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, type) and issubclass(item, base) and item is not base:
                    try:
                        cases[tuple(int(part) for part in item.__name__.removeprefix("Case").split("_"))] = item
                    except ValueError:
                        pass
    return dict(sorted(cases.items()))


def as_bytes(text):
    return text.encode("latin-1") if isinstance(text, str) else text


class Client(WebSocketClientProtocol):
    """The interface of the suite's own client for the cases."""

    def __init__(self):
        super().__init__()
        self.connectionWasOpen = False
        self.createWirelog = False
        self.txFrameStats = {}
        self.runCase = None

    def enableWirelog(self, enable):
        pass

    def onOpen(self):
        self.connectionWasOpen = True
        self.runCase = self.factory.case(self)
        self.runCase.onOpen()

    def onMessage(self, payload, isBinary):
        self.runCase.onMessage(payload.decode("latin-1"), isBinary)

    def onPong(self, payload):
        self.runCase.onPong(payload.decode("latin-1"))

    def connection_lost(self, exc):
        super().connection_lost(exc)
        if self.runCase:
            self.runCase.onConnectionLost(self.failedByMe)
        if not self.factory.ended.done():
            self.factory.ended.set_result(self.runCase)

    def logTxFrame(self, header, payload, repeatLength, chopsize, sync):
        self.txFrameStats[header.opcode] = self.txFrameStats.get(header.opcode, 0) + 1

    def logRxFrame(self, header, payload):
        pass

    def logRxOctets(self, data):
        pass

    def logTxOctets(self, data, sync):
        pass

    def unlessClosed(self, action, *arguments):
        if self.state != self.STATE_CLOSED:
            action(*arguments)

    def continueLater(self, delay, action, tag=None):
        self.factory.loop.call_later(delay, self.unlessClosed, action)

    def killAfter(self, delay):
        self.factory.loop.call_later(delay, self.unlessClosed, self._fail_connection)

    def closeAfter(self, delay):
        self.factory.loop.call_later(delay, self.unlessClosed, self.sendClose)

    def sendFrame(self, opcode, payload=b"", **options):
        super().sendFrame(opcode, as_bytes(payload), **options)

    def sendMessage(self, payload, isBinary=False, fragmentSize=None, sync=False, doNotCompress=False):
        super().sendMessage(as_bytes(payload), isBinary, fragmentSize, sync, doNotCompress)

    def sendCloseFrame(self, code=None, reasonUtf8=None, isReply=False):
        super().sendCloseFrame(code, as_bytes(reasonUtf8), isReply)

    def sendMessageFrameData(self, payload, sync=False):
        return super().sendMessageFrameData(as_bytes(payload), sync)


async def run(case, port):
    loop = asyncio.get_running_loop()
    factory = WebSocketClientFactory(f"ws://127.0.0.1:{port}/")
    factory.setProtocolOptions(failByDrop=False)
    factory.logFrames = True
    factory.protocol = Client
    factory.case = case
    factory.ended = loop.create_future()
    await loop.create_connection(factory, "127.0.0.1", port)
    return await asyncio.wait_for(factory.ended, 300)


async def main(directory, port, prefixes):
    failures = 0
    translated = directory / "translated"
    translate(directory, translated)
    cases = load(translated)
    numbers = [number for number in cases if not prefixes or ".".join(map(str, number)).startswith(prefixes)]
    for number in numbers:
        name = ".".join(map(str, number))
        try:
            result = await run(cases[number], port)
            outcome = (result.behavior, result.behaviorClose) if result else ("no handshake", "")
            detail = f"{result.result} {result.resultClose}" if result else ""
        except (OSError, asyncio.TimeoutError) as error:
            outcome, detail = (type(error).__name__, ""), str(error)
        if not set(outcome) <= PASSED:
            failures += 1
            print(f"{name}: {outcome[0]}, {outcome[1]}: {detail}", flush=True)
    print(f"{len(numbers) - failures} of {len(numbers)} cases passed", flush=True)
    return 1 if failures or not numbers else 0


warnings.simplefilter("ignore")
sys.exit(asyncio.run(main(pathlib.Path(sys.argv[1]), int(sys.argv[2]), tuple(sys.argv[3:]))))
