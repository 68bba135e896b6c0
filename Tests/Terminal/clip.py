"""Records a short session of the commands in tmux, and draws it as an animated picture: Tests/Terminal/clip.svg."""

import os
import re
import shutil
import tempfile
import time
import xml.sax.saxutils

from service import Service
from terminal import Terminal

COLUMNS, ROWS = 92, 17
CELL, LINE, MARGIN = 8.2, 19, 14
# The maximum duration and size for a README.
LIMIT = 100_000
OUTPUT = os.path.join(os.path.dirname(__file__), "clip.svg")

WEIGHTS = {"1": "b", "2": "d", "7": "i"}
COLOURS = {"31": "r", "32": "g", "33": "y", "36": "c"}
STYLE = """text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d7dde5;white-space:pre}
.b{font-weight:700;fill:#fff}.d{fill:#76828f}.r{fill:#ff7b72}.g{fill:#7ee787}.y{fill:#e3b341}.c{fill:#6cc7ff}.i{fill:#fff;font-weight:700}
g{visibility:hidden}"""


class Recorder:
    """Screens, and the time at which each appeared."""

    def __init__(self, terminal):
        self.terminal, self.frames, self.begun = terminal, [], time.monotonic()

    def look(self):
        screen = self.terminal.screen(styles=True).split("\n")
        if not self.frames or self.frames[-1][1] != screen:
            self.frames.append((time.monotonic() - self.begun, screen))

    def watch(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.look()
            time.sleep(0.2)

    def type(self, line):
        for start in range(0, len(line), 3):
            self.terminal.tmux("send-keys", "-l", "--", line[start:start + 3])
            self.look()
        self.watch(0.4)
        self.terminal.type("Enter")


def lines(screen):
    """A screen's lines as pieces of (class, text). Styles continue from line to line until they change."""
    weight, colour, result = None, None, []
    for line in screen:
        pieces = []
        for match in re.finditer(r"\x1b\[([\d;]*)m|([^\x1b]+)", line):
            if match[2] is None:
                for code in (match[1] or "0").split(";"):
                    if code in ("0", "39"):
                        colour = None
                    if code in ("0", "22", "27"):
                        weight = None
                    weight, colour = WEIGHTS.get(code, weight), COLOURS.get(code, colour)
            else:
                pieces.append((" ".join(filter(None, (weight, colour))), match[2]))
        result.append(tuple(pieces))
    return result


def drawn(line, row):
    """A line as an SVG text with the width of its columns in any font."""
    spans = "".join(
        f'<tspan class="{style}">{xml.sax.saxutils.escape(text)}</tspan>' if style else xml.sax.saxutils.escape(text)
        for style, text in line)
    columns = sum(len(text) for _, text in line)
    y = MARGIN + LINE * row + 14
    return f'<text x="{MARGIN}" y="{y}" textLength="{columns * CELL:.0f}" lengthAdjust="spacingAndGlyphs">{spans}</text>'


def picture(frames, length):
    """Each line once, for its whole time in its row."""
    width, height = MARGIN * 2 + round(COLUMNS * CELL), MARGIN * 2 + ROWS * LINE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
        "<title>pawl search, add, watch and get in a terminal</title>", f"<style>{STYLE}</style>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#11161d">',
        f'<animate id="l" attributeName="rx" values="8" begin="0s;l.end" dur="{length:.1f}s"/></rect>',
    ]
    frames = [(begin, lines(screen)) for begin, screen in frames]
    for row in range(ROWS):
        runs = []
        for begin, screen in frames:
            line = screen[row] if row < len(screen) else ()
            if not runs or runs[-1][1] != line:
                runs.append((begin, line))
        ends = [begin for begin, _ in runs[1:]] + [length]
        for (begin, line), end in zip(runs, ends):
            # A line with less than a frame is not drawn; without a duration it would stay forever.
            if end - begin >= 0.02 and any(text.strip() for _, text in line):
                parts.append(
                    f'<g><set attributeName="visibility" to="visible" begin="l.begin+{begin:.2f}s" dur="{end - begin:.2f}s"/>'
                    f"{drawn(line, row)}</g>")
    return "\n".join(parts) + "\n</svg>\n"


def record():
    service = Service()
    directory = tempfile.mkdtemp(prefix="pawl-clip-")
    os.mkdir(directory + "/bin")
    os.symlink(os.path.abspath(os.environ["PAWL_BINARY"]), directory + "/bin/pawl")
    terminal = Terminal(directory, COLUMNS, ROWS, {"PAWL_SERVER": service.url})
    try:
        terminal.run("clear")
        time.sleep(0.3)
        recorder = Recorder(terminal)
        recorder.watch(0.6)
        recorder.type("pawl search -n 3 field recording")
        terminal.wait_for("courtesy")
        recorder.watch(1.6)
        recorder.type("pawl add 1-3")
        recorder.watch(1.4)
        recorder.type("pawl watch")
        recorder.watch(3.5)
        terminal.type("Down")
        recorder.watch(0.6)
        terminal.type("p")
        recorder.watch(2.0)
        terminal.type("p")
        recorder.watch(2.0)
        terminal.type("q")
        recorder.watch(0.6)
        recorder.type(f"pawl get -x 8 {service.upstream}/large/field-recording-1.bin")
        recorder.watch(4.5)
        terminal.type("C-c")
        recorder.watch(2.5)
        return recorder.frames, time.monotonic() - recorder.begun
    finally:
        terminal.close()
        service.close()
        shutil.rmtree(directory, ignore_errors=True)


def main():
    text = picture(*record())
    size = len(text.encode())
    assert size < LIMIT, f"the picture has {size} bytes; at most {LIMIT} are worth it"
    with open(OUTPUT, "w", encoding="utf-8") as file:
        file.write(text)
    print(f"{OUTPUT}: {size} bytes")


if __name__ == "__main__":
    main()
