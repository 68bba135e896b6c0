import HTTPCore

/// Builds response heads from the single lines that libcurl passes. It has no I/O.
///
/// One exchange may have several heads: interim responses (1xx), then the final one. Lines after the final head are
/// trailers.
struct ResponseHeadReader: Sendable {
    enum Progress: Sendable, Equatable {
        /// More lines are needed, or this line was ignored.
        case incomplete
        /// The final head is complete.
        case complete
        case failed(ClientError)
    }

    private(set) var status = HTTPStatus(200)
    private(set) var fields = Fields()
    private(set) var isComplete = false
    /// The length in the fields, once the head is complete; nil if the body has another framing.
    private(set) var contentLength: Int64?

    private let maximumBytes: Int
    private var bytes = 0
    /// Whether a folded line would continue the last field.
    private var isInField = false

    init(maximumBytes: Int) {
        self.maximumBytes = maximumBytes
    }

    /// Reads one line, including its line end.
    mutating func read(_ line: Span<UInt8>) -> Progress {
        bytes += line.count
        guard bytes <= maximumBytes else { return .failed(.invalidResponse("its head is larger than \(maximumBytes) bytes")) }
        // Trailers are ignored, since no part of the client needs them.
        if isComplete { return .incomplete }
        let end = Self.endWithoutLineBreak(line)
        if end == 0 { return finish() }
        let first = line[0]
        if first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") {
            if isInField { fields.append(folded: line.extracting(..<end)) }
            return .incomplete
        }
        if isStatusLine(line, end: end) { return beginHead(line, end: end) }
        // A line that is not a field is skipped, as in libcurl.
        isInField = fields.append(line: line.extracting(..<end))
        return .incomplete
    }

    private mutating func beginHead(_ line: Span<UInt8>, end: Int) -> Progress {
        fields.removeAll(keepingCapacity: true)
        isInField = false
        // libcurl's status line of HTTP/2, which was offered to find out whether the server speaks HTTP/1.1 at all.
        if end > 6, line[5] == UInt8(ascii: "2"), line[6] == UInt8(ascii: " ") { return .failed(.onlyHTTP2) }
        // RFC 9112 §4: HTTP-version SP status-code SP [reason-phrase]. The last space is often missing.
        var (index, number) = (5, 0)
        for (width, separator) in [(1, UInt8(ascii: ".")), (1, UInt8(ascii: " ")), (3, UInt8(ascii: " "))] {
            number = 0
            for _ in 0..<width {
                guard index < end, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(line[index]) else {
                    return .failed(.invalidResponse("its status line is malformed"))
                }
                number = number * 10 + Int(line[index] - UInt8(ascii: "0"))
                index += 1
            }
            guard width == 3 ? index == end || line[index] == separator : index < end && line[index] == separator else {
                return .failed(.invalidResponse("its status line is malformed"))
            }
            index += 1
        }
        guard number >= 100 else { return .failed(.invalidResponse("its status is \(number)")) }
        status = HTTPStatus(number)
        return .incomplete
    }

    private mutating func finish() -> Progress {
        // RFC 9110 §15.2: a final response follows interim ones. 101 is an error, since no upgrade was requested.
        if status.code == 101 { return .failed(.invalidResponse("it changes the protocol without a request")) }
        if status.isInformational { return .incomplete }
        switch Self.contentLength(fields) {
        case .success(let length): contentLength = length
        case .failure(let error): return .failed(error)
        }
        isComplete = true
        return .complete
    }

    /// The length in the fields; nil if the body has another framing.
    static func contentLength(_ fields: Fields) -> Result<Int64?, ClientError> {
        // RFC 9112 §6.3: Transfer-Encoding overrides Content-Length.
        if fields.contains(.transferEncoding) { return .success(nil) }
        guard let lengths = fields.numbers(.contentLength) else {
            return .failure(.invalidResponse("its Content-Length is not a number, or out of range"))
        }
        // RFC 9112 §6.3: differing lengths are an unrecoverable error.
        guard lengths.allSatisfy({ $0 == lengths.first }) else {
            return .failure(.invalidResponse("it has two different Content-Lengths"))
        }
        return .success(lengths.first)
    }

    private func isStatusLine(_ line: Span<UInt8>, end: Int) -> Bool {
        let prefix = "HTTP/".utf8
        guard end >= prefix.count else { return false }
        for (index, byte) in prefix.enumerated() where line[index] != byte { return false }
        return true
    }

    private static func endWithoutLineBreak(_ line: Span<UInt8>) -> Int {
        var end = line.count
        if end > 0, line[end - 1] == UInt8(ascii: "\n") { end -= 1 }
        if end > 0, line[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        return end
    }
}
