/// A fault that a request asks for with `fault=`, so that tests have an origin that fails exactly as they need.
///
/// `?fault=reset@65536;times=1,no-validator` names two. Faults are separated by commas, and several `fault` parameters
/// add up. A fault may apply to some of the requests for its target only: `;times=N` (the first N) and `;from=K`
/// (beginning with request K, counted from 1). Requests are counted for each full target, regardless of the archive's
/// node. For base URLs without a query, `/faulty/<faults>/search…` is equivalent.
///
/// | fault | effect for the client |
/// | --- | --- |
/// | `reset@N` | the connection is reset after N bytes of this response's body |
/// | `truncate@N` | the connection is closed in order after N bytes of the body, though more were announced |
/// | `stall@N` | no more bytes after N bytes of the body; the connection stays open for two minutes |
/// | `slow-head@MS` | the head comes MS milliseconds late |
/// | `change` | from the second request on, each finds other bytes, tag and date of a file with noise; with `times=N`: N changes |
/// | `change-length` | like `change`, and the length changes as well |
/// | `ignore-ranges` | every response is 200 with the whole entity |
/// | `ignore-if-range` | ranges are honoured whatever `If-Range` says |
/// | `wrong-range` | a 206 whose Content-Range is one byte further than its bytes |
/// | `wrong-total` | a 206 whose Content-Range claims one byte more than the entity has |
/// | `unasked-206` | the response to a request without Range is 206 with the first half |
/// | `multipart` | the response to a single range is 206 `multipart/byteranges` |
/// | `416` | the response to every ranged request is 416 with `bytes */<length>` |
/// | `416-complete` | the response to every `bytes=N-` is 416 with `bytes */N`, as if the entity had N bytes |
/// | `416-bare` | the response to every ranged request is 416 without Content-Range |
/// | `503`, `503xN` | that status (400 to 599, 416 excepted), always or for the first N requests; 403 and 429 with an empty body |
/// | `retry-after=S` | failing responses carry Retry-After: S seconds |
/// | `204`, `205` | that status without a body |
/// | `html` | 200 with a small HTML page, like a login portal's |
/// | `gzip` | 200 with Content-Encoding: gzip for every request; the bytes are not compressed |
/// | `chunked` | no Content-Length; the body is chunked |
/// | `chunked-no-end` | like `chunked`, and the connection is closed without the last chunk |
/// | `weak-etag` | the ETag is a weak one |
/// | `no-validator` | neither ETag nor Last-Modified |
/// | `redirect=<url>` | 302 to that URL (a comma or semicolon in it has to be escaped once more) |
/// | `redirect-loop` | 302 to itself |
/// | `redirectxN` | N times 302 to another target of this server, then the entity |
/// | `one-connection` | 503 while another transfer of the same target is open |
struct Fault: Sendable, Equatable {
    /// The kinds of faults. The raw value is the name in a query, for faults without a number or text.
    enum Kind: String, Sendable {
        case change
        case changeLength = "change-length"
        case ignoreRanges = "ignore-ranges"
        case ignoreIfRange = "ignore-if-range"
        case wrongRange = "wrong-range"
        case wrongTotal = "wrong-total"
        case unaskedPartial = "unasked-206"
        case multipart
        case unsatisfiable = "416"
        case unsatisfiableComplete = "416-complete"
        case unsatisfiableBare = "416-bare"
        case html
        case gzip
        case chunked
        case chunkedWithoutEnd = "chunked-no-end"
        case weakTag = "weak-etag"
        case noValidator = "no-validator"
        case redirectLoop = "redirect-loop"
        case oneConnection = "one-connection"
        case reset = "reset@"
        case truncate = "truncate@"
        case stall = "stall@"
        case slowHead = "slow-head@"
        case retryAfter = "retry-after="
        case redirects = "redirectx"
        case redirect = "redirect="
        /// A status of three digits, in ``Fault/number``.
        case status

        /// The kinds whose name in a query is followed by a number.
        static let numbered: [Kind] = [.reset, .truncate, .stall, .slowHead, .retryAfter, .redirects]
    }

    let kind: Kind
    /// The number of bytes, milliseconds, seconds or redirects, or the status.
    var number: Int64 = 0
    /// The target of a redirect.
    var location = ""
    /// The number of the first request it applies to, from 1.
    var from = 1
    /// The number of requests that it applies to; `nil` for all.
    var times: Int?

    var changesEntity: Bool { kind == .change || kind == .changeLength }
}

/// An unknown fault in `fault=`.
struct FaultError: Error, Equatable {
    let text: String
    var message: String { "Unknown fault \"\(text)\". See the table at the type Fault in TestUpstream." }
}

extension Fault {
    /// Parses the value of a parameter: faults separated by commas.
    static func parse(_ text: String) throws(FaultError) -> [Fault] {
        var faults: [Fault] = []
        for part in text.split(separator: ",") { faults.append(try Fault(String(part))) }
        return faults
    }

    private init(_ text: String) throws(FaultError) {
        let parts = text.split(separator: ";").map(String.init)
        guard let name = parts.first, let fault = Fault(name: name) else { throw FaultError(text: text) }
        self = fault
        for option in parts.dropFirst() {
            if let number = Self.number(after: "times=", in: option) {
                times = Int(number)
            } else if let number = Self.number(after: "from=", in: option), number >= 1 {
                from = Int(number)
            } else {
                throw FaultError(text: text)
            }
        }
    }

    private init?(name: String) {
        for kind in Kind.numbered {
            guard let number = Self.number(after: kind.rawValue, in: name) else { continue }
            self.init(kind: kind, number: number)
            return
        }
        if name.hasPrefix(Kind.redirect.rawValue) {
            self.init(kind: .redirect, location: String(name.dropFirst(Kind.redirect.rawValue.count)))
        } else if let kind = Kind(rawValue: name), kind != .status, !Kind.numbered.contains(kind) {
            self.init(kind: kind)
        } else {
            let parts = name.split(separator: "x", omittingEmptySubsequences: false).map(String.init)
            guard let status = Self.number(after: "", in: parts[0]), parts[0].utf8.count == 3, parts.count <= 2,
                (400...599).contains(status) || ["204", "205"].contains(name)
            else { return nil }
            self.init(kind: .status, number: status)
            if parts.count == 1 { return }
            guard let count = Self.number(after: "", in: parts[1]) else { return nil }
            times = Int(count)
        }
    }

    /// A number of at most 15 digits after a prefix.
    private static func number(after prefix: String, in text: String) -> Int64? {
        guard text.hasPrefix(prefix) else { return nil }
        let digits = text.utf8.dropFirst(prefix.utf8.count)
        guard !digits.isEmpty, digits.count <= 15, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(Substring(digits))
    }
}

/// The faults that apply to one request.
struct ActiveFaults: Sendable {
    private let faults: [Fault]
    /// The version of the entity for this request: 1 unless it changes.
    let version: Int

    /// - Parameter request: The number of the request for its target, from 1.
    init(_ faults: [Fault], request: Int) {
        self.faults = faults.filter { request >= $0.from && request - $0.from < $0.times ?? .max }
        // Request `from` finds the first version; each later one finds the next, up to `times` changes.
        version = faults.filter(\.changesEntity).reduce(1) { $0 + min(max(0, request - $1.from), $1.times ?? .max) }
    }

    func has(_ kind: Fault.Kind) -> Bool { faults.contains { $0.kind == kind } }

    /// The first fault of this kind.
    subscript(_ kind: Fault.Kind) -> Fault? { faults.first { $0.kind == kind } }

    /// The premature end of the body; `nil` if there is none.
    var cut: BodyCut? {
        if has(.chunkedWithoutEnd) { return BodyCut(after: .max, ending: .close) }
        for (kind, ending) in [(Fault.Kind.reset, BodyCut.Ending.reset), (.truncate, .close), (.stall, .stall)] {
            if let fault = self[kind] { return BodyCut(after: fault.number, ending: ending) }
        }
        return nil
    }
}

/// A premature end of a body: a reset or close of the connection, or a stall.
struct BodyCut: Sendable, Equatable {
    enum Ending: Sendable { case reset, close, stall }
    /// The number of bytes of the body before its end. If the body is shorter, the end follows its last byte.
    let after: Int64
    let ending: Ending
}
