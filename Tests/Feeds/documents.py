"""Reads feedparser's own test documents by the service and by feedparser, each item with a file, and counts what the service reads
otherwise, by kind. Ends with status 1 if a kind has more differences than its ceiling, or fewer: a ceiling falls with its count. Called by
Tests/Feeds/run."""

import argparse
import collections
import http.server
import json
import os
import pathlib
import re
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
import warnings

import compare
import corpus
import feedparser
import service

CEILINGS = pathlib.Path(__file__).with_name("documents.txt")
FOLDERS = ("encoding", "entities", "illformed", "wellformed")
ITEM = re.compile(rb"<((?:[\w-]+:)?)(item|entry)(?=[\s>])[^>]*(?<!/)>")


def with_files(text):
    """The document with a file in each item. Documents in UTF-16 and the like stay as they are."""
    count = iter(range(1, 10_000))

    def file(match):
        address = f'https://cdn.example/{next(count)}.mp3" type="audio/mpeg" length="5'
        prefix = match[1].decode()
        element = f'<{prefix}link rel="enclosure" href="{address}"/>' if match[2] == b"entry" else f'<{prefix}enclosure url="{address}"/>'
        return match[0] + element.encode()

    # No page of another host is fetched.
    return re.sub(rb"rel=(['\"])(next|prev-archive)\1", rb"rel=\1other\1", ITEM.sub(file, text))


def cases(folder):
    """The documents with the fields that they state in their first comment."""
    for path in sorted(path for name in FOLDERS for path in (folder / name).rglob("*.xml")):
        text = path.read_bytes()
        fields = {name.decode().lower(): value.decode().strip() for name, value in re.findall(rb"(?m)^Header:\s+([^:\s]+):(.+)$", text[:2_000])}
        name = str(path.relative_to(folder))
        yield corpus.Case(name, "/" + urllib.parse.quote(name), with_files(text), fields.get("content-type", "application/xml"), set())


#: Why the service reads some things otherwise than feedparser: a reason, the fields, and whether it applies to a difference.
REASONS = (
    ("an id of Atom is no page", ("pageUrl", "feed.pageUrl"), lambda d: d.ours is None and "_id" in d.case.name),
    ("an id stays as it is written", ("identity",), lambda d: d.theirs.startswith("http://")),
    ("an editor or owner is no author", ("feed.artist",), lambda d: d.ours is None and re.search("managingEditor|owner", d.case.name)),
    ("the first of several authors counts", ("feed.artist",), lambda d: "authors" in d.case.name),
    ("a title in Base64 stays as it is", ("name", "feed.name"), lambda d: "base64" in d.case.name),
)


class Origin(compare.Origin):
    def do_GET(self):
        case = self.server.cases.get(urllib.parse.urlsplit(self.path).path)
        self.send_response(200 if case else 404)
        body = case.body if case else b""
        self.send_header("Content-Type", case.content_type if case else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def listing(url, feed):
    """The reading of the service, or its refusal."""
    try:
        of, parts, faults = compare.listing(url, feed)
        if not of:
            # A feed without files is no work with parts, and found all the same.
            query = urllib.parse.urlencode({"source": "feed", "term": feed})
            with urllib.request.urlopen(f"{url}/search?{query}", timeout=service.PATIENCE) as answer:
                of = json.load(answer)["results"][0]
        return (of, parts, faults), None
    except urllib.error.HTTPError as error:
        return (None, [], []), json.load(error)["detail"]
    except SystemExit as refusal:
        return (None, [], []), str(refusal)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=pathlib.Path, help="the folder tests of feedparser's source distribution")
    arguments.add_argument("--list", metavar="KIND", help="print the differences of a kind")
    arguments.add_argument("--show", metavar="CASE", help="print a document and both readings")
    arguments.add_argument("--lower", action="store_true", help="write the counts that are below their ceilings")
    chosen = arguments.parse_args()
    warnings.simplefilter("ignore")
    all_cases = [case for case in cases(chosen.folder) if chosen.show in (None, case.name)]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
    server.cases = {case.path: case for case in all_cases}
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_port}"
    pawl = service.Service("--allow-destination", "127.0.0.1", "--log-level", "error")
    counts, found = collections.Counter(), []
    try:
        for case in all_cases:
            ours, refusal = listing(pawl.url, origin + urllib.parse.quote(case.path, safe="/%"))
            read = feedparser.parse(origin + case.path)
            theirs = compare.reading(read, origin + case.path)
            if chosen.show:
                print(case.content_type, case.body.decode(errors="replace"), refusal, json.dumps(ours, indent=1, ensure_ascii=False), *theirs, sep="\n")
            if refusal:
                # A document without an item is no loss.
                if theirs[1]:
                    found.append(compare.Difference(case, "refused", refusal[:300], len(theirs[1]), None))
                continue
            found += [difference for difference in compare.differences(case, origin + case.path, ours, theirs)
                      if not any(difference.field in fields and applies(difference) for _, fields, applies in REASONS)]
        counts = collections.Counter(difference.field for difference in found)
        for difference in found:
            if chosen.list in (difference.field, "all"):
                print(difference.case.name, difference.field, f"ours: {difference.ours!r}", f"feedparser: {difference.theirs!r}", sep="  ")
    finally:
        pawl.close()
        server.shutdown()
    if chosen.show or chosen.list:
        return 0
    ceilings = {name: int(count) for name, count in (line.split() for line in CEILINGS.read_text().splitlines())} if CEILINGS.exists() else {}
    if chosen.lower:
        kept = {name: min(counts[name], ceilings.get(name, counts[name])) for name in ceilings.keys() | counts.keys()}
        CEILINGS.write_text("".join(f"{name} {count}\n" for name, count in sorted(kept.items()) if count))
        ceilings = kept
    print(f"{len(all_cases)} documents of feedparser, {len({difference.case.name for difference in found})} with differences: {dict(counts)}")
    wrong = sorted(name for name in ceilings.keys() | counts.keys() if counts[name] != ceilings.get(name, 0))
    for name in wrong:
        print(f"{name}: {counts[name]} differences; the ceiling is {ceilings.get(name, 0)} (--list {name} prints them, --lower lowers it)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
