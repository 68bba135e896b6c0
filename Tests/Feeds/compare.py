"""Reads the same feeds by the service and by feedparser, and compares them. Called by Tests/Feeds/run; ends with status 1 if there is a
difference without a reason, or a reason without a difference."""

import argparse
import calendar
import collections
import hashlib
import html
import http.server
import json
import os
import re
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "Support"))

import feedparser

import corpus
import service

Difference = collections.namedtuple("Difference", "case field ours theirs entry is_last", defaults=(False,))



def seconds(text):
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))


def key(identity):
    return hashlib.sha256(identity.encode()).hexdigest()[:32]


def has(*tags):
    """Whether a difference is in a case with one of the tags."""
    return lambda difference: not difference.case.tags.isdisjoint(tags)


def is_garbled(difference):
    """Whether feedparser has taken UTF-8 for ISO-8859-1."""
    return (has("mark-against-charset", "utf-8-as-latin")(difference)
            and ("\u00c3" in difference.theirs or difference.theirs.replace("%C3%83%C2%A9", "%C3%A9") == difference.ours))


def is_known_date(difference):
    text = difference.entry.get("published") or dict.get(difference.entry, "updated")
    if text not in corpus.MOMENTS:
        return False
    right = corpus.MOMENTS[text]
    return difference.ours == (right and seconds(right))


def is_base(difference):
    """Whether the service has resolved an address with xml:base, and feedparser has not."""
    ours, theirs = difference.ours, difference.theirs
    return has("base")(difference) and (ours.startswith("https://base.example/") and theirs.startswith("http://127.0.0.1:")
                                        or ours == theirs.replace("http://cdn.example/", "https://cdn.example/"))


#: Why the service reads some things otherwise than feedparser: a reason, the fields, and whether it applies to a difference.
REASONS = (
    ("a byte order mark, and valid UTF-8, win over another name of the encoding", ("feed.artist", "downloadUrl"), is_garbled),
    ("ISO-8859-1 is windows-1252, as in browsers", ("feed.artist",), lambda d: has("windows-as-latin")(d) and any("\x80" <= c <= "\x9f" for c in d.theirs)),
    ("the declaration of an encoding counts behind white space, too", ("feed.name", "name", "feed.artist"),
     lambda d: has("space-before")(d) and has("cyrillic", "central", "latin")(d)),
    ("UTF-16 of type text/xml or behind white space is read; feedparser finds nothing in it",
     ("feed.name", "feed.artist", "feed.pageUrl", "feed.artworkUrl", "more"),
     lambda d: has("utf-16")(d) and has("text/xml", "space-before")(d) and d.theirs is None),
    ("a guid is a page only if it is an address", ("pageUrl",), lambda d: d.ours is None and re.search(r"/id-\w+$", d.theirs)),
    ("a guid that is an address stands for an empty link", ("pageUrl",), lambda d: d.theirs is None and d.ours.startswith("https://show.example/e/")),
    ("an empty link is none; feedparser takes the base for it", ("pageUrl",),
     lambda d: d.ours is None and re.fullmatch(r"http://127.0.0.1:\d+/feeds/\d+\.xml|https://base.example/(\d+|feeds)/", d.theirs)),
    ("feedparser misreads this date", ("releaseDate",), is_known_date),
    ("xml:base counts for files and pictures, too", ("downloadUrl", "artworkUrl", "feed.artworkUrl"), is_base),
    ("feedparser knows no enclosures of RSS 1.0", ("more",), has("rss10")),
    ("feedparser takes a file without a type for HTML", ("format",), lambda d: d.theirs == "text/html"),
    ("the picture for podcasts (itunes:image) wins over others", ("feed.artworkUrl", "artworkUrl"), lambda d: d.ours.endswith("/large.jpg")),
    ("the author for podcasts (itunes:author) wins over others", ("feed.artist",), lambda d: (d.ours or "").startswith("Anna ")),
    ("an editor is no author", ("feed.artist",), lambda d: has("editor")(d) and "(Ed" in d.theirs),
    ("titles for podcasts and media stand for a missing title", ("name",), lambda d: d.theirs is None and d.ours == "Another title"),
    ("what is no entity stays as it is written", ("name", "feed.name"), lambda d: d.ours == d.theirs.replace("AT&Ts", "AT&T;s")),
    ("the item in which a document breaks off does not count", ("fewer",), lambda d: has("truncated")(d) and d.is_last),
)


# What feedparser reads

def collapsed(text):
    return " ".join((text or "").split()) or None


def plain(detail):
    """A title or name as plain text."""
    if not detail:
        return None
    value = detail.get("value") or ""
    if detail.get("type") in ("text/html", "application/xhtml+xml"):
        value = html.unescape(re.sub(r"<[^>]*>", "", value))
    return collapsed(value)


def address(text, base, fragment=False):
    """An address of http or https in its usual form, with its fragment if it is a page's; `None` for others."""
    if not text or not text.strip():
        return None
    parts = urllib.parse.urlsplit(urllib.parse.urljoin(base, text.strip()))
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    usual = {"http": 80, "https": 443}[parts.scheme]
    host = parts.hostname + (f":{parts.port}" if parts.port and parts.port != usual else "")
    escape = lambda part: urllib.parse.quote(part, safe="/%?=&;:@!$'()*+,~")
    return urllib.parse.urlunsplit((parts.scheme, host, escape(parts.path) or "/", escape(parts.query), escape(parts.fragment) if fragment else ""))


def moment(entry):
    for name in ("published_parsed", "updated_parsed"):
        if dict.get(entry, name):
            return calendar.timegm(dict.get(entry, name))
    return None


def milliseconds(text):
    match = re.fullmatch(r"(?:(?:(\d+):)?(\d+):)?(\d+)(\.\d+)?", (text or "").strip())
    if not match:
        return None
    hours, minutes, seconds, fraction = match.groups()
    return int(((int(hours or 0) * 60 + int(minutes or 0)) * 60 + int(seconds) + float(fraction or 0)) * 1000) or None


def number(text):
    text = (text or "").strip()
    return int(text) if text.isdigit() and int(text) > 0 else None


def identity_of(entry):
    """The id of an entry. Feedparser makes an address of a guid that is none; the service keeps it as it is written."""
    return re.sub(r"^https?://.*/(id-\w+)$", r"\1", collapsed(entry.get("id")) or "")


def enclosures(entry, base):
    """The files of an entry, as the service would choose among them."""
    found = []
    for enclosure in entry.get("enclosures") or entry.get("media_content") or []:
        url = address(enclosure.get("href") or enclosure.get("url"), base)
        if url:
            kind = (enclosure.get("type") or "").split(";")[0].strip().lower()
            found.append({"url": url, "type": kind if "/" in kind else None,
                          "bytes": number(enclosure.get("length") or enclosure.get("filesize"))})
    return sorted(found, key=lambda file: not (file["type"] or "").startswith(("audio/", "video/")))


def reading(found, base):
    """The feed and its parts as feedparser reads them."""
    image = (found.feed.get("image") or {}).get("href")
    feed = {"name": plain(found.feed.get("title_detail")), "artist": collapsed((found.feed.get("author_detail") or {}).get("name") or found.feed.get("author")),
            "pageUrl": address(found.feed.get("link"), base, fragment=True), "artworkUrl": address(image or found.feed.get("logo") or found.feed.get("icon"), base)}
    parts = []
    bare = collections.Counter()
    for entry in found.entries:
        files = enclosures(entry, base)
        if files and not identity_of(entry):
            bare[files[0]["url"].split("?")[0]] += 1
    for entry in found.entries:
        files = enclosures(entry, base)
        if not files:
            continue
        file = files[0]
        short = file["url"].split("?")[0]
        identity = identity_of(entry) or (short if bare[short] == 1 else file["url"])
        parts.append({
            "identity": identity, "key": key(identity), "entry": entry, "is_last": entry is found.entries[-1],
            "name": plain(entry.get("title_detail")), "releaseDate": moment(entry), "downloadUrl": file["url"], "format": file["type"], "bytes": file["bytes"],
            "durationMs": milliseconds(entry.get("itunes_duration")), "number": number(entry.get("itunes_episode")),
            "season": number(entry.get("itunes_season")), "pageUrl": address(entry.get("link"), base, fragment=True),
            "artworkUrl": address((entry.get("image") or {}).get("href"), base) or feed["artworkUrl"]})
    return feed, parts


# What the service reads

class Origin(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        case = self.server.cases[urllib.parse.urlsplit(self.path).path]
        self.send_response(200)
        self.send_header("Content-Type", case.content_type)
        self.send_header("Content-Length", str(len(case.body)))
        self.end_headers()
        self.wfile.write(case.body)

    def log_message(self, *_):
        pass


def listing(url, feed):
    """The feed and its parts as the service reads them, or the refusal."""
    try:
        with urllib.request.urlopen(f"{url}/search/parts?limit=200&id=" + urllib.parse.quote("feed:" + feed, safe=""), timeout=service.PATIENCE) as answer:
            found = json.load(answer)
    except urllib.error.HTTPError as error:
        problem = json.load(error)
        if problem["detail"].endswith("it has no parts") or "breaks off before its first item" in problem["detail"]:
            return None, [], []
        raise SystemExit(f"{feed}: {problem}")
    for part in found["results"]:
        part["key"] = part["id"].rsplit("#", 1)[1]
        if part["releaseDate"]:
            part["releaseDate"] = seconds(part["releaseDate"])
    return found["of"], found["results"], found["warnings"]


# The comparison

FEED_FIELDS = ("name", "artist", "pageUrl", "artworkUrl")
PART_FIELDS = ("name", "releaseDate", "downloadUrl", "format", "bytes", "durationMs", "number", "season", "pageUrl", "artworkUrl")


def matched(parts, peers):
    """Each part with the same one of feedparser's: by identity, by address, or by the end of the address. Of peers with the same identity, the
    first counts."""
    left = {}
    for peer in peers:
        left.setdefault(peer["identity"], peer)
    left, found = list(left.values()), {}
    for same in (lambda part, peer: part["key"] == peer["key"], lambda part, peer: part["downloadUrl"] == peer["downloadUrl"],
                 lambda part, peer: part["downloadUrl"].rsplit("/", 1)[1] == peer["downloadUrl"].rsplit("/", 1)[1]):
        for part in parts:
            peer = next((peer for peer in left if part["id"] not in found and same(part, peer)), None)
            if peer:
                found[part["id"]] = peer
                left.remove(peer)
    return [(part, found.get(part["id"])) for part in parts] + [(None, peer) for peer in left]


def differences(case, base, ours, theirs):
    """What the two read differently in a case."""
    of, parts, warnings = ours
    feed, peers = theirs
    for field in FEED_FIELDS if of else ():
        if of[field] != feed[field] and not (field == "name" and feed[field] is None and of[field] == "127.0.0.1"):
            yield Difference(case, "feed." + field, of[field], feed[field], None)
    if of and bool(warnings) != ("truncated" in case.tags):
        yield Difference(case, "warnings", warnings, None, None)
    for part, peer in matched(parts, peers):
        if peer is None:
            yield Difference(case, "more", part["downloadUrl"], None, None)
            continue
        if part is None:
            yield Difference(case, "fewer", None, peer["downloadUrl"], peer["entry"], peer["is_last"])
            continue
        # Another address is another identity, where there is no id.
        own = [key(address) for address in (part["downloadUrl"], part["downloadUrl"].split("?")[0])]
        if part["key"] != peer["key"] and not (part["key"] in own and peer["identity"] in peer["downloadUrl"]):
            yield Difference(case, "identity", part["key"], peer["identity"], peer["entry"])
        for field in PART_FIELDS:
            ours, theirs = part[field], peer[field]
            if field == "format" and theirs is None:
                # The service has the extension in place of a missing type.
                continue
            if field == "name" and theirs is None and ours == urllib.parse.unquote(urllib.parse.urlsplit(part["downloadUrl"]).path.rsplit("/", 1)[1]):
                continue
            if ours != theirs:
                yield Difference(case, field, ours, theirs, peer["entry"])
    dates = [part["releaseDate"] for part in parts if part["releaseDate"] is not None]
    if dates != sorted(dates, reverse=True):
        yield Difference(case, "order", dates, None, None)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--count", type=int, default=600)
    arguments.add_argument("--show", metavar="CASE", help="print the document of a case and both readings")
    chosen = arguments.parse_args()
    cases = corpus.cases(chosen.seed, chosen.count)
    pairs = corpus.pairs(chosen.seed, chosen.count // 10)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
    server.cases = {case.path: case for case in [*cases, *(case for pair in pairs for case in pair)]}
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_port}"
    pawl = service.Service("--allow-destination", "127.0.0.1", "--log-level", "error")
    unexplained, used, compared = [], collections.Counter(), 0
    try:
        for case in cases:
            if chosen.show and case.name != chosen.show:
                continue
            ours = listing(pawl.url, origin + case.path)
            found = feedparser.parse(origin + case.path)
            theirs = reading(found, origin + case.path)
            compared += len(ours[1]) if ours[0] else 0
            if chosen.show:
                print(case.tags, case.content_type, case.body.decode(errors="replace"), json.dumps(ours, indent=1, ensure_ascii=False),
                      theirs[0], *theirs[1], found.get("bozo_exception"), found.encoding, sep="\n")
            for difference in differences(case, origin + case.path, ours, theirs):
                reason = next((text for text, fields, applies in REASONS if difference.field in fields and applies(difference)), None)
                if reason:
                    used[reason] += 1
                else:
                    unexplained.append(difference)
        for left, right in pairs:
            own, other = (listing(pawl.url, origin + case.path) for case in (left, right))
            for field in FEED_FIELDS if own[0] else ():
                if own[0][field] != other[0][field]:
                    unexplained.append(Difference(left, "json.feed." + field, own[0][field], other[0][field], None))
            values = [[{field: part[field] for field in ("key", *PART_FIELDS)} for part in parts] for _, parts, _ in (own, other)]
            if values[0] != values[1]:
                unexplained.append(Difference(left, "json.parts", *values, None))
    finally:
        pawl.close()
        server.shutdown()
    for reason, count in used.most_common():
        print(f"  {count:5} {reason}")
    for difference in unexplained:
        print(f"{difference.case.name} {difference.field}: pawl {difference.ours!r}, feedparser {difference.theirs!r} ({', '.join(sorted(difference.case.tags))})")
    idle = [reason for reason, _, _ in REASONS if not used[reason]] if not chosen.show else []
    for reason in idle:
        print(f"no case needs the reason: {reason}")
    print(f"{len(cases)} feeds, {compared} episodes and {len(pairs)} JSON feeds: {sum(used.values())} differences have a reason, {len(unexplained)} have none")
    if unexplained or idle:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
