"""Whole works: a thousand parts at once, and what is known of a work beside what is known of a search."""

import http.server
import json
import statistics
import threading
import time
import urllib.parse

import harness
from harness import Pawl, interleaved, print_rates

PARTS = 1_000


class Archive(http.server.BaseHTTPRequestHandler):
    """Items of as many files as their names say, and a search that finds fifty."""

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path
        if path.startswith("/metadata/"):
            identifier = path.rsplit("/", 1)[1]
            files = [{"name": f"disc {number % 7}/{number:04} A piece of music.mp3", "source": "original", "format": "VBR MP3",
                      "size": str(1_000_000 + number), "length": "351.4", "title": f"A piece of music {number}",
                      "sha1": f"{number:040x}"} for number in range(int(identifier.split("-")[1]))]
            answer = {"metadata": {"identifier": identifier, "title": "A work", "creator": "Somebody", "mediatype": "audio"}, "files": files}
        else:
            answer = {"response": {"numFound": 50, "docs": [
                {"identifier": f"work-{number}", "title": f"A piece of music {number}", "creator": "Somebody", "mediatype": "audio",
                 "collection": ["one", "two"], "date": "2023-04-21T00:00:00Z"} for number in range(50)]}}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def works(executable):
    archive = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Archive)
    threading.Thread(target=archive.serve_forever, daemon=True).start()
    try:
        with harness.Scratch() as directory:
            pawl = harness.started(Pawl(executable, directory, "--archive-url", f"http://127.0.0.1:{archive.server_port}"))
            cached(pawl)
            accept(pawl)
    finally:
        archive.shutdown()


def cached(pawl):
    """A work of fifty parts, beside a search with fifty results."""
    paths = {"pawl": "/search/parts?id=archive:work-50", "search": "/search?source=archive&term=music&limit=50"}
    sizes = {name: len(pawl.get(path)) for name, path in paths.items()}
    print_rates("GET /search/parts of a known work of 50 parts", interleaved({
        name: lambda path=path: harness.wrk(pawl.base + path, pawl) for name, path in paths.items()}),
        f"{sizes['pawl']:,} bytes, the search {sizes['search']:,}; wanted: 0.9 x requests of a known search")


def accept(pawl):
    """How long one request takes that makes a thousand parts durable, each time of another work; and the lists of one of them."""
    times = []
    for turn in range(harness.ROUNDS):
        work = f"archive:{'x' * (turn + 1)}-{PARTS}"
        pawl.get(f"/search/parts?limit=1&id={work}")
        begun = time.monotonic()
        items = pawl.post("/downloads/batch", {"partsOf": work, "paused": True})["items"]
        times.append((time.monotonic() - begun) * 1000)
        if [item["status"] for item in items] != [201] * PARTS:
            raise SystemExit("not all parts were taken")
    print(f"POST /downloads/batch of a work of {PARTS:,} parts that is known: {statistics.median(times):.0f} ms, {max(times):.0f} at most"
          " (wanted: 250 ms)")
    lists = {"pawl": f"/downloads?label={work}&limit=200", "folder": f"/downloads?folder={'x' * harness.ROUNDS}-{PARTS}/disc+1&limit=200",
             "all": "/downloads?limit=200"}
    print_rates(f"one page of a work's downloads by its label, among {harness.ROUNDS * PARTS:,}", interleaved({
        name: lambda path=path: harness.wrk(pawl.base + path, pawl, connections=8) for name, path in lists.items()}),
        "by its folder, and the page without either")
