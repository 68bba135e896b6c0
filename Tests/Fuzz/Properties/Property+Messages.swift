internal import HTTPCore

extension Property {
    /// Limits that inputs of a few hundred bytes reach.
    private static var smallLimits: ParserLimits {
        var limits = ParserLimits()
        limits.head = 256
        limits.fields = 5
        limits.target = 60
        limits.method = 10
        limits.chunkLine = 24
        limits.chunkExtensions = 60
        limits.trailers = 40
        return limits
    }

    /// The result depends on the bytes, not on their division; a head equals its lines, and is equal when written
    /// again.
    func checkRequests(_ bytes: [UInt8]) throws(Violation) {
        for limits in [ParserLimits(), Self.smallLimits] {
            var heads: [(head: RequestHead, bytes: [UInt8])] = []
            let whole = MessageReading(bytes, cuts: [], limits: limits) { heads.append(($0, $1)) }
            let inBytes = MessageReading(bytes, cuts: Array(0..<bytes.count), limits: limits)
            try expectSame(inBytes, whole, "byte by byte and as a whole")
            let cuts = Pieces.cuts(of: bytes)
            try expectSame(MessageReading(bytes, cuts: cuts, limits: limits), whole, "cut at \(cuts) and as a whole")
            for (head, bytes) in heads {
                try expect(bytes.count <= limits.head, "a head of \(bytes.count) bytes")
                try expect(head.fields.count <= limits.fields + madeFields(head), "\(head.fields.count) fields")
                try checkLines(head, bytes)
                try checkFraming(head)
                try checkWrittenAgain(head)
            }
        }
    }

    /// The number of fields beyond the sent ones: HTTP/1.0 may omit the Host that an absolute form names.
    private func madeFields(_ head: borrowing RequestHead) -> Int {
        head.target.form == .absolute && head.version == .http10 ? 1 : 0
    }

    /// A second reading of an accepted head: by lines, and by the first colon of each.
    private func checkLines(_ head: borrowing RequestHead, _ bytes: [UInt8]) throws(Violation) {
        var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map { Array($0) }
        try expect(lines.popLast()?.isEmpty == true, "the head doesn't end with a line's end")
        try expect(lines.allSatisfy { $0.last == 0x0D && $0.count { $0 == 0x0D } == 1 }, "a bare LF or CR")
        lines = lines.map { $0.dropLast() }
        try expect(lines.popLast()?.isEmpty == true, "the head doesn't end with an empty line")
        while lines.first?.isEmpty == true { lines.removeFirst() }
        let requestLine = lines.isEmpty ? [] : lines.removeFirst()
        // Of the target, characters that it cannot have are encoded.
        try expectSame(
            PercentEncoding.encodeFragment(String(decoding: requestLine, as: UTF8.self)),
            PercentEncoding.encodeFragment("\(head.method.name) \(head.target) \(head.version)"), "request lines")
        guard head.target.form != .absolute else { return }
        var fields: [String] = []
        for field in head.fields { fields.append("\(field.name):\(field.value)") }
        let expected = lines.map { line in
            let colon = line.firstIndex(of: 0x3A) ?? line.endIndex
            let value = String(decoding: line[colon...].dropFirst(), as: UTF8.self)
            return String(decoding: line[..<colon], as: UTF8.self) + ":" + trimmed(value)
        }
        // Bytes that are not UTF-8 are read differently; their value has no effect here.
        guard expected.allSatisfy({ $0.utf8.allSatisfy { $0 < 0x80 } }) else { return }
        try expectSame(fields, expected, "fields")
    }

    private func trimmed(_ text: String) -> String {
        let isSpace = { (unit: UInt8) in unit == 0x20 || unit == 0x09 }
        let start = text.utf8.drop(while: isSpace)
        return String(decoding: start.reversed().drop(while: isSpace).reversed(), as: UTF8.self)
    }

    /// The conditions of a smuggled request.
    private func checkFraming(_ head: borrowing RequestHead) throws(Violation) {
        let lengths = head.fields.values(.contentLength)
        let codings = head.fields.values(.transferEncoding)
        let hosts = head.fields.values(.host)
        try expect(lengths.count + codings.count <= 1, "more than one field says where the body ends")
        try expect(hosts.count == 1 || hosts.isEmpty && head.version == .http10, "\(hosts.count) hosts")
        try expect(hosts.first?.isEmpty != true, "an empty host")
        switch head.framing {
        case .none: try expect(lengths.isEmpty && codings.isEmpty, "a body without framing")
        case .length(let length):
            try expect(lengths.first.flatMap { Int64($0) } == length && length >= 0, "a length of \(length)")
        case .chunked:
            try expect(codings.first?.lowercased() == "chunked" && head.version >= .http11, "chunked by \(codings)")
        }
        try expect(!head.expectsContinue || head.framing != .none && head.version >= .http11, "nothing to continue with")
    }

    private func checkWrittenAgain(_ head: borrowing RequestHead) throws(Violation) {
        var bytes = Array("\(head.method.name) ".utf8) + head.target.raw + Array(" \(head.version)\r\n".utf8)
        head.fields.encode(into: &bytes)
        ResponseEncoder.encodeHeadEnd(into: &bytes)
        let fields = head.fields
        var again: Fields?
        // The Host that an absolute form replaces has any length, and may be one more field.
        var limits = ParserLimits()
        limits.head *= 2
        limits.target *= 3
        limits.fields += madeFields(head)
        let reading = MessageReading(bytes, cuts: [], limits: limits) { head, _ in again = head.fields }
        try expect(again == fields, "written again: \(reading)")
    }
}

extension Property {
    /// The decoded body depends on the bytes only, stays within its limit, and equals a reading by lines.
    func checkChunked(_ bytes: [UInt8]) throws(Violation) {
        for (limits, maximum) in [(ParserLimits(), 1000), (Self.smallLimits, 20)] {
            let whole = BodyReading(bytes, cuts: [], limits: limits, maximum: maximum)
            let inBytes = BodyReading(bytes, cuts: Array(0..<bytes.count), limits: limits, maximum: maximum)
            try expectSame(inBytes, whole, "byte by byte and as a whole")
            let cuts = Pieces.cuts(of: bytes)
            try expectSame(
                BodyReading(bytes, cuts: cuts, limits: limits, maximum: maximum), whole, "cut at \(cuts) and as a whole")
            try expect(whole.body.count <= maximum, "\(whole.body.count) bytes where \(maximum) are the limit")
            try expect(whole.consumed <= bytes.count, "more consumed than there is")
            guard whole.isFinished else { continue }
            try expectSame(byLines(bytes[..<whole.consumed]), whole.body, "by lines, and decoded")
            var written: [UInt8] = []
            for start in stride(from: 0, to: whole.body.count, by: 3) {
                ResponseEncoder.encodeChunk(Array(whole.body[start...].prefix(3)).span, into: &written)
            }
            ResponseEncoder.encodeLastChunk(into: &written)
            let again = BodyReading(written, cuts: [], limits: ParserLimits(), maximum: maximum)
            try expect(again.isFinished && again.body == whole.body, "written again, it is \(again)")
        }
    }

    /// A second, simple reading of an accepted body.
    private func byLines(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var rest = bytes
        var body: [UInt8] = []
        while let end = rest.firstIndex(of: 0x0D) {
            let digits = rest[..<end].prefix { $0 != 0x3B && $0 != 0x20 && $0 != 0x09 }
            guard let size = Int(String(decoding: digits, as: UTF8.self), radix: 16), size > 0 else { break }
            rest = rest[end...].dropFirst(2)
            body += rest.prefix(size)
            rest = rest.dropFirst(size + 2)
        }
        return body
    }
}

/// The decoded chunks of a body.
private struct BodyReading: Equatable {
    var body: [UInt8] = []
    var consumed = 0
    var isFinished = false
    var error: RequestError?

    init(_ bytes: [UInt8], cuts: [Int], limits: ParserLimits, maximum: Int) {
        var decoder = ChunkedDecoder(limits: limits)
        var start = 0
        for cut in cuts + [bytes.count] where !isFinished {
            do throws(RequestError) {
                let (count, finished) = try decoder.decode(
                    bytes.span.extracting(start..<cut), into: &body, maximum: maximum)
                consumed += count
                isFinished = finished
                start = cut
            } catch {
                self.error = error
                // The number of good bytes in the last piece is unknown.
                body = []
                consumed = 0
                return
            }
        }
    }
}
