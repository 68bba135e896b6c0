import TestSupport
import Testing

@testable import HTTPCore

/// Every type that reads text must return for any text without a trap.
@Suite @OffPool struct HostileInputTests {
    nonisolated static let seeds = [
        "bytes=0-499,-5,9-", "bytes 0-9/100", "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994", "W/\"a\", \"b\"",
        "attachment; filename=\"a\\\"b\"; filename*=UTF-8''%e2%82%ac", "text/html; charset=\"utf-8\"; a=b",
        "https://u:p@[::1]:80/a/%41?b=c&d#e", "http://a.b:99999/",
        "2026-11-21T09:16:07.123+01:30", "/a/%41?b=%42+c&d", "[1:2::1.2.3.4]:80", "99999999999999999999", "-9223372036854775808",
        "*", "../../a?b#c",
    ]

    @Test("Reads or refuses mutated texts", arguments: 0..<8 as Range<UInt64>)
    func mutatedTextIsReadOrRefused(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let alphabet = Array("\"\\;,=-/:%*'[]()?#&+@. \t09afAFZGMT\r\n\u{0}\u{7f}é€🎵".unicodeScalars)
        let names: [FieldName] = [.ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .range, .ifRange]
        for _ in 0..<400 {
            var scalars = Array((Self.seeds.randomElement(using: &random) ?? "").unicodeScalars)
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                let index = Int.random(in: 0...scalars.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: scalars.insert(alphabet.randomElement(using: &random) ?? " ", at: index)
                case 1 where index < scalars.count: scalars.remove(at: index)
                case 2: scalars = Array(scalars[..<index]) + scalars[(index / 2)...]
                default: scalars = Array(scalars[..<index])
                }
            }
            let text = String(String.UnicodeScalarView(scalars))
            read(text, as: names.randomElement(using: &random) ?? .range)
        }
    }

    /// Reads the text as every type, and checks the properties of each result.
    func read(_ text: String, as name: FieldName) {
        let length = Int64(text.utf8.count) * 7
        if case .satisfiable(let ranges) = RangeSet.resolve(text, length: length) {
            #expect(!ranges.isEmpty)
            #expect(ranges.allSatisfy { $0.start >= 0 && $0.length >= 1 && $0.end <= length })
        }
        if let range = ContentRange(parsing: text) { #expect(ContentRange(parsing: range.description) == range) }
        if let date = HTTPDate(parsing: text) { #expect(HTTPDate(parsing: date.description) == date) }
        if let moment = Timestamp(parsing: text) { #expect(Timestamp(parsing: moment.description) == moment) }
        if let tag = EntityTag(parsing: text) { #expect(EntityTag(parsing: tag.description) == tag) }
        _ = EntityTagList(parsing: text)
        if let disposition = ContentDisposition(parsing: text), let filename = disposition.filename {
            #expect(ContentDisposition(parsing: ContentDisposition.inline(filename: filename))?.filename == filename)
        }
        if let type = MediaType(parsing: text) {
            #expect(type.matches(pattern: type.essence) || type.type == "*")
            #expect(MediaType(parsing: type.description)?.essence == type.essence)
        }
        if let url = HTTPURL(text) {
            #expect(HTTPURL(url.string) == url)
            #expect((1...65535).contains(url.port))
            #expect(url.string.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
            _ = url.lastPathComponent
        }
        if let url = HTTPURL("http://h/a/b?c")?.resolving(text) { #expect(HTTPURL(url.string) == url) }
        if let target = try? RequestTarget(text) {
            _ = target.segments
            _ = target.path
            _ = try? target.queryItems()
        }
        _ = Authority(host: Array(text.utf8)[...])
        #expect(PercentEncoding.decode(PercentEncoding.encodeComponent(text).utf8) == text)
        var fields = Fields()
        fields.append(name, text)
        var lines: [UInt8] = []
        fields.encode(into: &lines)
        #expect(lines.filter { $0 == 10 }.count == 1)
        _ = Preconditions.evaluate(
            method: .get, fields: fields, etag: EntityTag(opaque: "a"), lastModified: HTTPDate(secondsSinceEpoch: 0),
            length: length)
    }
}
