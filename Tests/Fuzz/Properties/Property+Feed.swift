internal import Feeds
internal import HTTPCore
internal import XML

extension Property {
    /// Feeds of any bytes are read within their bounds, each identity once, and twice in the same way. So are lists of
    /// feeds. What a strict reader accepts, a tolerant one reads to its end.
    func checkFeed(_ bytes: [UInt8]) throws(Violation) {
        guard let address = HTTPURL("http://feed.example/a/feed") else { throw Violation("no address") }
        _ = FeedLink.first(in: bytes, at: address)
        do {
            let feed = try Feed(reading: bytes, from: address)
            try expectSame(try Feed(reading: bytes, from: address), feed, "read twice")
            try expect(feed.items.count <= feed.itemCount && feed.items.count <= Feed.Limits.items, "too many items")
            try expect(Set(feed.items.map { Array($0.identity.utf8) }).count == feed.items.count, "an identity occurs twice")
            for item in feed.items {
                try expect(item.title?.isEmpty != true && item.title?.count ?? 0 <= 501, "the title \(item.title ?? "")")
                try expect(item.enclosure.length ?? 1 > 0 && item.durationMs ?? 1 > 0, "a number of \(item)")
                try expect(item.key.utf8.count == 32, "the key of \(item)")
            }
            try expect(feed.isComplete || !feed.warnings.isEmpty, "a break without a warning")
        } catch let refusal as Feed.Refusal {
            try expect(!refusal.finding.isEmpty, "a refusal without a reason")
        } catch let violation as Violation {
            throw violation
        } catch {
            throw Violation("\(error)")
        }
        try checkList(bytes)
        guard let root = try? XMLElement.parse(bytes) else { return }
        var reader = XMLReader(bytes, isTolerant: true)
        do {
            try expect(try reader.next() == .start && reader.name == root.name, "another root")
            while try reader.next() != nil {}
        } catch let violation as Violation {
            throw violation
        } catch {
            throw Violation("a tolerant reader refuses it: \(error)")
        }
    }

    /// A list of feeds is within its bounds. Once it is written, reading and writing it again changes nothing.
    private func checkList(_ bytes: [UInt8]) throws(Violation) {
        guard let list = try? OPML(reading: bytes) else { return }
        try expect(list.outlines.count <= OPML.Limits.outlines, "too many outlines")
        for outline in list.outlines {
            try expect(!outline.address.isEmpty && outline.labels.count < OPML.Limits.levels, "the outline \(outline)")
        }
        let date = HTTPDate(secondsSinceEpoch: 0)
        let written = Array(list.document(created: date).utf8)
        guard written.count <= OPML.Limits.bytes else { return }
        guard let read = try? OPML(reading: written) else { throw Violation("a list that is written is refused") }
        try expect(read.outlines.count == list.outlines.count, "outlines are lost")
        try expectSame(Array(read.document(created: date).utf8), written, "written twice")
    }
}
