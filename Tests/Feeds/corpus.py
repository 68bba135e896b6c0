"""The feeds of the comparison: documents of every format, encoding and mistake, made from a seed.

`cases(seed, count)` returns cases with a name, a path, the bytes, the Content-Type and tags, which tell what is unusual in the document.
"""

import dataclasses
import html
import json
import random

FORMATS = ("rss20", "rss20", "rss20", "rss092", "rss091", "rss10", "atom10", "atom10", "atom03")

#: Codec, byte order mark, declared name, `charset` of the response, tag.
ENCODINGS = (
    ("utf-8", b"", "UTF-8", None, "utf-8"),
    ("utf-8", b"", "UTF-8", None, "utf-8"),
    ("utf-8", b"", None, None, "undeclared"),
    ("utf-8", b"", "utf-8", "utf-8", "utf-8"),
    ("utf-8", b"\xef\xbb\xbf", "UTF-8", None, "mark"),
    ("utf-8", b"\xef\xbb\xbf", None, "iso-8859-1", "mark-against-charset"),
    ("utf-16-le", b"\xff\xfe", "UTF-16", None, "utf-16"),
    ("utf-16-be", b"\xfe\xff", "UTF-16", None, "utf-16"),
    ("iso-8859-1", b"", "ISO-8859-1", None, "latin"),
    ("cp1252", b"", "windows-1252", None, "latin"),
    ("cp1252", b"", "ISO-8859-1", None, "windows-as-latin"),
    ("cp1252", b"", "UTF-8", None, "windows-as-utf-8"),
    ("utf-8", b"", "ISO-8859-1", None, "utf-8-as-latin"),
    ("utf-8", b"", "ISO-8859-1", "utf-8", "charset-against-declaration"),
    ("iso-8859-1", b"", "UTF-8", "iso-8859-1", "charset-against-declaration"),
    ("cp1252", b"", None, "windows-1252", "charset"),
    ("cp1251", b"", "windows-1251", None, "cyrillic"),
    ("koi8-r", b"", "koi8-r", None, "cyrillic"),
    ("iso-8859-2", b"", "ISO-8859-2", None, "central"),
    ("iso-8859-15", b"", "ISO-8859-15", None, "latin"),
)

#: Words outside ASCII that a codec has.
WORDS = {"cp1251": "Привет, мир", "koi8-r": "Привет, мир", "iso-8859-2": "Žluťoučký kůň", "iso-8859-1": "Zoë, naïve café",
         "cp1252": "Zoë’s café – €5", "iso-8859-15": "Zoë, œuvre €5"}

#: Titles as XML, with a tag. `WORD` becomes a word outside ASCII.
TITLES = (
    ("An episode", "title"), ("WORD", "title"), ("Questions &amp; answers", "title"), ("Questions & answers", "bare-ampersand"),
    ("A &nbsp;b&hellip; caf&eacute;", "entity"), ("<![CDATA[Questions & answers]]>", "title"), ("<![CDATA[WORD]]>", "title"),
    ("<![CDATA[<b>Bold</b> words]]>", "html"), ("&lt;i&gt;Slanted&lt;/i&gt; words", "html"), ("5 &lt; 6", "less"),
    ("It&#8217;s &#x1F600;", "title"), ("It&#146;s", "windows-reference"), ("R&amp;amp;D", "html"), ("\n  Two\n  lines  ", "title"),
    ("", "untitled"), (None, "untitled"), ("A<!-- remark --> word", "title"), ("One <![CDATA[and]]> two", "title"),
    ("AT&T;s", "unknown-entity"), ("&quot;Quoted&quot; &apos;words&apos;", "title"), ("<![CDATA[A &amp; B]]>", "html"),
    ("Tom &#38; Jerry", "title"), ("100% &lt;3", "less"), ("WORD &amp;mdash; WORD", "html"),
)

#: Dates, with a tag; `right` marks those that every reader understands.
DATES = (
    ("Wed, 02 Oct 2002 15:00:00 GMT", "right"), ("Wed, 02 Oct 2002 15:00:00 +0200", "right"), ("02 Oct 2002 15:00:00 EST", "right"),
    ("Wed, 2 Oct 2002 5:07:09 -0330", "right"), ("Wed, 02 Oct 2002 15:00 GMT", "right"), ("Wed, 02 Oct 02 15:00:00 GMT", "right"),
    ("2002-10-02T15:00:00Z", "right"), ("2002-10-02T15:00:00+02:00", "right"), ("2002-10-02T15:00:00.25Z", "right"), ("2002-10-02", "right"),
    ("2002-10", "right"), ("2002-10-02 15:00:00", "date"), ("Wednesday, 02 October 2002 15:00:00 GMT", "date"),
    ("Wed, 02 Oct 2002 15:00:00", "date"), ("Wed, 2nd Oct 2002 15:00:00 GMT", "date"), ("Oct 2, 2002 3:05 PM", "date"),
    ("Wed, Oct 02 2002 15:00:00 +0000", "date"), ("Thu, 02 Oct 2002 15:00:00 GMT", "wrong-day"), ("Wed, 02 Oct 2002 24:00:00 GMT", "date"),
    ("Wed, 02 Oct 2002 15:00:00 PDT", "right"), ("Wed, 02 Oct 2002 15:00:00 CEST", "zone"), ("Wed,02 Oct 2002 15:00:00 GMT", "date"),
    ("Wed, 02 Oct 2002 15:00:00 GMT+2", "date"), ("Wed Oct  2 15:00:00 2002", "asctime"), ("20021002T150000Z", "date"), ("2002-275", "ordinal"),
    ("1033570800", "number"), ("soon", "none"), ("", "none"), ("Mi, 02 Okt 2002 15:00:00 +0200", "german"), ("2 Oct 2002", "date"),
    ("  Wed, 02 Oct 2002 15:00:00 GMT\n", "right"), ("2002-10-02T24:00:00Z", "date"), ("Wed, 32 Oct 2002 15:00:00 GMT", "impossible"),
    ("2002-10-02T15:00:00 +0200", "date"), ("Wed, 02-Oct-2002 15:00:00 GMT", "date"),
)

#: What the dates say that feedparser does not read, or reads otherwise; `None` is no date.
MOMENTS = {
    "Wed, 02 Oct 2002 15:00:00": "2002-10-02T15:00:00Z", "Wed, 2nd Oct 2002 15:00:00 GMT": "2002-10-02T15:00:00Z",
    "Oct 2, 2002 3:05 PM": "2002-10-02T15:05:00Z", "Wed, 02 Oct 2002 24:00:00 GMT": "2002-10-03T00:00:00Z",
    "Wed, 02 Oct 2002 15:00:00 CEST": "2002-10-02T13:00:00Z", "Wed,02 Oct 2002 15:00:00 GMT": "2002-10-02T15:00:00Z",
    "Wed, 02 Oct 2002 15:00:00 GMT+2": "2002-10-02T13:00:00Z", "20021002T150000Z": "2002-10-02T15:00:00Z",
    "Wed, 02-Oct-2002 15:00:00 GMT": "2002-10-02T15:00:00Z", "1033570800": None, "2002-275": None,
}

DURATIONS = ("90", "05:37", "1:02:03", " 62:03 ", "0", "", "unknown", "351.4", "00:00:30")
LENGTHS = ("1000", None, "", "0", "x", "12345678", " 77 ", "-1")
TYPES = ("audio/mpeg", "audio/mpeg", "video/mp4", "application/pdf", "Audio/MP4", None, "", "audio/x-m4a; charset=binary")
TARGETS = ("https://cdn.example/{}.mp3", "{}.mp3", "/audio/{}.mp3", "https://cdn.example/play.php?id={}&amp;t=1", "//cdn.example/{}.ogg",
           "../{}.mp3", "https://cdn.example/a%20b/{}.mp3", "https://cdn.example/a b/{}.mp3", "ftp://cdn.example/{}.mp3", " https://cdn.example/{}.mp3 ",
           "https://cdn.example/{}.mp3#t=1", "HTTPS://CDN.example:443/{}.mp3", "https://cdn.example/é/{}.mp3")

SPACES = {
    "itunes": "http://www.itunes.com/dtds/podcast-1.0.dtd", "media": "http://search.yahoo.com/mrss/",
    "content": "http://purl.org/rss/1.0/modules/content/", "dc": "http://purl.org/dc/elements/1.1/",
    "podcast": "https://podcastindex.org/namespace/1.0",
}


@dataclasses.dataclass
class Case:
    name: str
    path: str
    body: bytes
    content_type: str
    tags: set


class Maker:
    """Makes one document."""

    def __init__(self, name, chosen):
        self.name, self.chosen, self.tags = name, chosen, set()
        self.format = chosen.choice(FORMATS)
        self.codec, self.mark, self.declared, self.charset, tag = chosen.choice(ENCODINGS)
        self.tags |= {self.format, tag}
        self.is_atom = self.format.startswith("atom")

    def maybe(self, chance):
        return self.chosen.random() < chance

    def words(self, text):
        return text.replace("WORD", WORDS.get(self.codec, "Zoë’s 日本 café"))

    def pick(self, choices):
        value, tag = self.chosen.choice(choices)
        self.tags.add(tag)
        return value if value is None else self.words(value)

    # The parts of a document

    def element(self, name, text, attributes=""):
        return "" if text is None else f"<{name}{attributes}>{text}</{name}>"

    def title(self):
        text = self.pick(TITLES)
        if text is None or not self.is_atom:
            return self.element("title", text)
        if self.format == "atom03":
            kinds = ((' mode="escaped" type="text/html"', "html-title"), ("", "plain-title"), (' type="text/plain"', "plain-title"))
        else:
            kinds = ((' type="html"', "html-title"), ("", "plain-title"), (' type="text"', "plain-title"))
        if self.format == "atom10" and self.maybe(0.15):
            self.tags.add("xhtml-title")
            return self.element("title", f'<div xmlns="http://www.w3.org/1999/xhtml">{text} <em>and</em> more</div>', ' type="xhtml"')
        return self.element("title", text, self.pick(kinds))

    def date(self, name):
        return self.element(name, self.pick(DATES))

    def target(self, number):
        target = self.chosen.choice(TARGETS).format(number)
        if "é" in target and (self.codec not in ("utf-8", "utf-16-le", "utf-16-be") or self.codec in WORDS):
            target = target.replace("é", "e")
        if "ftp:" in target:
            self.tags.add("ftp")
        return target

    def enclosure(self, number):
        parts = {"length": self.chosen.choice(LENGTHS), "type": self.chosen.choice(TYPES)}
        target = self.target(number)
        if self.is_atom:
            attributes = {"rel": "enclosure", "href": target, **parts}
        elif self.format == "rss10":
            attributes = {"rdf:resource": target, **{f"enc:{name}": value for name, value in parts.items()}}
        else:
            attributes = {"url": target, **parts}
        name = "link" if self.is_atom else "enc:enclosure" if self.format == "rss10" else "enclosure"
        return f"<{name} " + " ".join(f'{key}="{value}"' for key, value in attributes.items() if value is not None) + "/>"

    def media(self, number):
        self.tags.add("media")
        content = f'<media:content url="{self.target(number)}" fileSize="4096" type="{self.chosen.choice(("audio/mpeg", "video/mp4"))}"/>'
        return f"<media:group>{content}</media:group>" if self.maybe(0.4) else content

    def identity(self, number):
        if self.maybe(0.15):
            self.tags.add("duplicate")
            number = "same"
        if self.is_atom:
            return "" if self.maybe(0.1) else f"<id>tag:example.org,2002:{number}</id>"
        if self.format in ("rss091", "rss10") or self.maybe(0.2):
            return ""
        return self.chosen.choice((
            f'<guid isPermaLink="false">id-{number}</guid>', f"<guid>https://show.example/e/{number}</guid>", f"<guid> id-{number}\n</guid>",
            f'<guid isPermaLink="true">https://show.example/e/{number}</guid>', f"<guid>id-{number}</guid>", "<guid/>"))

    def link(self, number):
        target = self.chosen.choice((f"https://show.example/e/{number}", f"/e/{number}", f"e{number}?a=1&amp;b=2", ""))
        return f'<link href="{target}"/>' if self.is_atom else f"<link>{target}</link>"

    def item(self, number):
        name = "entry" if self.is_atom else "item"
        about = f' rdf:about="https://show.example/e/{number}"' if self.format == "rss10" else ""
        base = self.base(0.1, f"https://base.example/{number}/")
        parts = [self.title(), self.identity(number), self.date({"atom10": "published", "atom03": "issued", "rss10": "dc:date"}.get(self.format, "pubDate"))]
        if self.maybe(0.7):
            parts.append(self.link(number))
        roll = self.chosen.random()
        if roll < 0.75:
            parts.append(self.enclosure(number))
            if roll < 0.2:
                self.tags.add("several")
                parts.append(self.enclosure(f"{number}b"))
        elif roll < 0.88 and self.format != "rss10":
            parts.append(self.media(number))
        if self.maybe(0.6):
            parts += [f"<itunes:duration>{self.chosen.choice(DURATIONS)}</itunes:duration>", f"<itunes:episode>{number}</itunes:episode>",
                      f"<itunes:season>{self.chosen.choice(('1', '2', '0', ''))}</itunes:season>",
                      f"<itunes:explicit>{self.chosen.choice(('yes', 'no', 'true', 'false', 'clean', ''))}</itunes:explicit>"]
        if self.maybe(0.3):
            parts.append(f'<itunes:image href="/images/{number}.jpg"/>')
        if self.maybe(0.5):
            parts.append(self.chosen.choice((
                "<content:encoded><![CDATA[<p>Notes</p><title>No title</title>]]></content:encoded>",
                "<description>&lt;p&gt;Notes</description>", '<podcast:transcript url="https://show.example/t.vtt" type="text/vtt"/>',
                "<itunes:title>Another title</itunes:title>", "<media:title>Another title</media:title>",
                "<source url=\"https://other.example/\"><title>Another feed</title></source>" if not self.is_atom
                else "<source><title>Another feed</title><id>x</id></source>")))
            if "Another title" in parts[-1]:
                self.tags.add("other-title")
        self.chosen.shuffle(parts)
        return f"<{name}{about}{base}>\n{''.join(part + chr(10) for part in parts)}</{name}>\n"

    def base(self, chance, address):
        if not self.maybe(chance):
            return ""
        self.tags.add("base")
        return f' xml:base="{address}"'

    def head(self):
        """The parts of the feed itself."""
        parts = [self.title()]
        if self.is_atom:
            if self.maybe(0.6):
                parts.append(self.words("<author><name>WORD</name><email>a@show.example</email></author>"))
            parts.append('<link href="https://show.example/"/><link rel="self" href="https://show.example/self"/>')
            if self.maybe(0.4):
                parts.append("<logo>/logo.png</logo>")
            if self.maybe(0.3):
                parts.append("<icon>/icon.png</icon>")
        else:
            parts.append(f"<link>{self.chosen.choice(('https://show.example/', '/show', ' https://show.example/ '))}</link>")
            if self.maybe(0.4) and self.format != "rss10":
                parts.append("<image><url>https://show.example/image.png</url><title>The image</title><link>https://image.example/</link></image>")
            if self.maybe(0.3):
                parts.append(self.words("<dc:creator>WORD</dc:creator>"))
            if self.maybe(0.2):
                self.tags.add("editor")
                parts.append("<managingEditor>ed@show.example (Ed)</managingEditor>")
        if self.maybe(0.4):
            parts.append(self.words("<itunes:author>Anna WORD</itunes:author>"))
        if self.maybe(0.4):
            parts.append('<itunes:image href="https://show.example/large.jpg"/>')
        self.chosen.shuffle(parts)
        return "\n".join(parts)

    def spaces(self):
        kept = dict(SPACES)
        if self.maybe(0.12):
            self.tags.add("undeclared")
            for name in self.chosen.sample(sorted(kept), 3):
                del kept[name]
        return "".join(f' xmlns:{name}="{address}"' for name, address in kept.items())

    def document(self):
        head = self.head()
        items = "".join(self.item(number) for number in range(1, self.chosen.randint(2, 6)))
        base = self.base(0.1, "https://base.example/feeds/")
        if self.format == "rss10":
            text = (f'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"'
                    f' xmlns:enc="http://purl.oclc.org/net/rss_2.0/enc#"{self.spaces()}{base}>\n'
                    f'<channel rdf:about="https://show.example/">\n{head}\n</channel>\n{items}</rdf:RDF>\n')
        elif self.is_atom:
            space = "http://www.w3.org/2005/Atom" if self.format == "atom10" else "http://purl.org/atom/ns#"
            text = f'<feed xmlns="{space}"{self.spaces()}{base}>\n{head}\n{items}</feed>\n'
        else:
            version = {"rss20": "2.0", "rss092": "0.92", "rss091": "0.91"}[self.format]
            text = f'<rss version="{version}"{self.spaces()}{base}>\n<channel>\n{head}\n{items}</channel>\n</rss>\n'
        if self.format == "rss091" and self.maybe(0.5):
            text = ('<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/publish/formats/rss-0.91.dtd">\n'
                    + text)
        if self.declared or self.maybe(0.3):
            text = '<?xml version="1.0"' + (f' encoding="{self.declared}"' if self.declared else "") + "?>\n" + text
        if self.maybe(0.06):
            self.tags.add("space-before")
            text = "\n  " + text
        if self.maybe(0.1):
            self.tags.add("truncated")
            text = text[:self.chosen.randrange(max(len(text) // 2, text.index(head)), len(text) - 5)]
        return text

    def case(self):
        text = self.document()
        kind = self.chosen.choice(("application/atom+xml", "application/xml") if self.is_atom else ("application/rss+xml", "application/xml", "text/xml"))
        if kind == "text/xml":
            self.tags.add("text/xml")
        return Case(self.name, f"/feeds/{self.name}.xml", self.mark + text.encode(self.codec, "xmlcharrefreplace"),
                    kind + (f"; charset={self.charset}" if self.charset else ""), self.tags)


def cases(seed, count):
    return [Maker(f"{number:03}", random.Random(f"{seed} {number}")).case() for number in range(count)]


def pairs(seed, count):
    """The same feeds as JSON Feed and as RSS 2.0."""
    result = []
    for number in range(count):
        chosen = random.Random(f"{seed} json {number}")
        items = []
        for item in range(chosen.randint(1, 5)):
            attachments = [{"url": f"https://cdn.example/{item}{extra}.mp3", "mime_type": chosen.choice(("audio/mpeg", "application/pdf")),
                            "size_in_bytes": chosen.choice((0, 5, 12345678)), "duration_in_seconds": chosen.choice((0, 61, 3723))}
                           for extra in range(chosen.randint(0, 2))]
            items.append({"id": f"id-{item // 2 if chosen.random() < 0.2 else item}", "title": f"Zoë & <{item}>", "url": f"https://show.example/{item}",
                          "date_published": f"20{10 + chosen.randrange(10)}-10-02T15:00:00+02:00", "image": f"https://show.example/{item}.jpg",
                          "attachments": attachments})
        feed = {"version": "https://jsonfeed.org/version/1.1", "title": "The show’s name", "authors": [{"name": "Anna"}],
                "home_page_url": "https://show.example/", "icon": "https://show.example/icon.png", "items": items}
        result.append((Case(f"json-{number}", f"/feeds/json-{number}.json", json.dumps(feed).encode(), "application/feed+json", set()),
                       Case(f"like-{number}", f"/feeds/like-{number}.xml", same_in_rss(feed).encode(), "application/rss+xml", set())))
    return result


def same_in_rss(feed):
    def text(name, value):
        return f"<{name}>{html.escape(html.escape(value))}</{name}>"

    items = ""
    for item in feed["items"]:
        # RSS states the duration of the item, and JSON Feed the duration of each file.
        playable = [a for a in item["attachments"] if a["mime_type"].startswith("audio")] or item["attachments"]
        items += ("<item>" + text("title", item["title"]) + text("guid", item["id"]) + text("link", item["url"])
                  + text("pubDate", item["date_published"]) + f'<itunes:image href="{item["image"]}"/>'
                  + (text("itunes:duration", str(playable[0]["duration_in_seconds"])) if playable else "")
                  + "".join(f'<enclosure url="{a["url"]}" type="{a["mime_type"]}" length="{a["size_in_bytes"]}"/>' for a in item["attachments"])
                  + "</item>")
    return (f'<rss version="2.0" xmlns:itunes="{SPACES["itunes"]}"><channel>' + text("title", feed["title"])
            + text("itunes:author", feed["authors"][0]["name"]) + text("link", feed["home_page_url"])
            + f'<itunes:image href="{feed["icon"]}"/>' + items + "</channel></rss>")
