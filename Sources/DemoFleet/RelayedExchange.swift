internal import HTTPCore

/// Follows the requests and answers on a connection, and tells whether the request under way can be sent to another replica.
///
/// A request can be sent again until all of it has come. A GET or HEAD without content can be sent again until a byte of its answer has come.
/// No later request of a connection is sent again after bytes that cannot be followed: pipelined requests, or another protocol.
struct RelayedExchange {
    private enum Phase {
        /// A request is read, or awaited.
        case request
        /// So many bytes of its content are missing.
        case content(Int64)
        /// The request is whole, and there is nothing of the answer.
        case waiting
        case answerHead
        case answerBody(Body)
        /// Bytes pass that are not understood.
        case opaque
    }

    private enum Body {
        case length(Int64)
        case chunked(ChunkedDecoder)
    }

    /// The longest head of an answer that is read.
    private static let largestHead = 64 * 1024

    /// The bytes that another replica is sent in place of the first one.
    private(set) var request: [UInt8] = []
    private var phase = Phase.request
    private var parser = RequestParser()
    private var isHead = false
    /// Whether no answer has come on this connection.
    private var isFirst = true
    /// The head of the answer, as far as it has come.
    private var head: [UInt8] = []

    /// Whether another replica can be sent ``request``.
    var isRepeatable: Bool {
        switch phase {
        // An idle connection ends as the replica wants it.
        case .request: isFirst || !request.isEmpty
        case .waiting: !request.isEmpty
        case .content, .answerHead, .answerBody, .opaque: false
        }
    }

    /// Takes bytes that the client has sent.
    mutating func noteRequest(_ bytes: [UInt8]) {
        switch phase {
        case .request:
            request += bytes
            let received = request
            switch parser.parse(received.span) {
            case .incomplete: break
            case .complete(let consumed): begin(parser.head, content: Int64(received.count - consumed))
            case .failed: stopFollowing()
            }
        case .content(let missing): take(content: Int64(bytes.count), of: missing)
        case .waiting, .answerHead, .answerBody: stopFollowing()
        case .opaque: break
        }
    }

    private mutating func begin(_ head: RequestHead, content: Int64) {
        isHead = head.method == .head
        let length: Int64
        switch head.framing {
        case .none: length = 0
        case .length(let count): length = count
        case .chunked: return stopFollowing()
        }
        if length > 0 || (head.method != .get && head.method != .head) { request = [] }
        take(content: content, of: length)
    }

    private mutating func take(content: Int64, of length: Int64) {
        if content > length { return stopFollowing() }
        phase = content == length ? .waiting : .content(length - content)
    }

    /// Takes bytes that the replica has sent.
    mutating func noteAnswer(_ bytes: [UInt8]) {
        isFirst = false
        request = []
        switch phase {
        case .waiting:
            head = []
            phase = .answerHead
            readHead(bytes)
        case .answerHead: readHead(bytes)
        case .answerBody(let body): readBody(body, bytes)
        case .request, .content: stopFollowing()
        case .opaque: break
        }
    }

    private mutating func readHead(_ bytes: [UInt8]) {
        head += bytes
        let end = Array("\r\n\r\n".utf8)
        guard let start = head.indices.first(where: { head[$0...].starts(with: end) }) else {
            if head.count > Self.largestHead { stopFollowing() }
            return
        }
        let lines = String(decoding: head[..<start], as: UTF8.self).split(separator: "\r\n")
        let rest = Array(head[(start + end.count)...])
        head = []
        guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            return stopFollowing()
        }
        switch status {
        case 101: stopFollowing()
        case ..<200: readHead(rest)
        case 204, 304: readBody(.length(0), rest)
        case _ where isHead: readBody(.length(0), rest)
        default:
            if let coding = Self.value(of: "transfer-encoding", in: lines) {
                if coding == "chunked" { readBody(.chunked(ChunkedDecoder()), rest) } else { stopFollowing() }
            } else if let length = Self.value(of: "content-length", in: lines).flatMap({ Int64($0) }) {
                readBody(.length(length), rest)
            } else {
                stopFollowing()
            }
        }
    }

    private static func value(of name: String, in lines: [Substring]) -> String? {
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == name else { continue }
            return line[line.index(after: colon)...].lowercased().filter { $0 != " " && $0 != "\t" }
        }
        return nil
    }

    private mutating func readBody(_ body: Body, _ bytes: [UInt8]) {
        switch body {
        case .length(let missing):
            let left = missing - Int64(bytes.count)
            if left < 0 { return stopFollowing() }
            phase = left == 0 ? .request : .answerBody(.length(left))
        case .chunked(var decoder):
            var content: [UInt8] = []
            guard let (consumed, isFinished) = try? decoder.decode(bytes.span, into: &content, maximum: .max),
                consumed == bytes.count
            else { return stopFollowing() }
            phase = isFinished ? .request : .answerBody(.chunked(decoder))
        }
    }

    private mutating func stopFollowing() {
        phase = .opaque
        request = []
        head = []
    }
}
