/// Misbehaviour that a request asks for with `fault=`, so that tests have an origin that fails exactly as they need.
///
/// `?fault=reset@65536;times=1,no-validator` names two. Faults are separated by commas, and several `fault` parameters add up. A fault
/// may be limited to some of the requests for its target: `;times=N` (the first N it applies to) and `;from=K` (not before request
/// K, counted from 1). Requests are counted for each full target, redirects apart. Where a URL can carry no query of its own (a base
/// that a client appends to), `/faulty/<faults>/search…` means the same.
///
/// | fault | what the client sees |
/// | --- | --- |
/// | `reset@N` | the connection is reset after N bytes of this answer's body |
/// | `truncate@N` | the connection is closed in order after N bytes of the body, though more were announced |
/// | `stall@N` | nothing more after N bytes of the body; the connection stays, for two minutes |
/// | `slow-head@MS` | the head comes MS milliseconds late |
/// | `change` | each request from the second on finds other bytes of the same length, another ETag, a later Last-Modified. With `times=N`: N changes, then no more. Posts and artwork change by their tag alone |
/// | `change-length` | the same, and the length changes too |
/// | `ignore-ranges` | every answer is 200 with the whole entity |
/// | `ignore-if-range` | ranges are honoured whatever `If-Range` says |
/// | `wrong-range` | a 206 whose Content-Range is one byte further than its bytes |
/// | `wrong-total` | a 206 whose Content-Range claims one byte more than the entity has |
/// | `unasked-206` | a request without Range is answered 206 with the first half |
/// | `multipart` | a single range is answered 206 `multipart/byteranges` |
/// | `416` | every ranged request is answered 416 with `bytes */<length>` |
/// | `416-complete` | every `bytes=N-` is answered 416 with `bytes */N`, as if N bytes were all there is |
/// | `416-bare` | every ranged request is answered 416 without Content-Range |
/// | `503`, `503xN` | that status (400 to 599, 416 excepted), always or for the first N requests; 403 and 429 with an empty body |
/// | `retry-after=S` | failing answers carry Retry-After: S seconds |
/// | `retry-after=date@S` | the same as an HTTP date that is S seconds ahead |
/// | `204`, `205` | that status without a body |
/// | `html` | 200 with a small HTML page, as from a portal that wants a login |
/// | `gzip` | 200 with Content-Encoding: gzip, whatever was asked for |
/// | `chunked` | no Content-Length; the body is chunked |
/// | `chunked-no-end` | the same, and the connection is closed without the last chunk |
/// | `weak-etag` | the ETag is a weak one |
/// | `no-validator` | neither ETag nor Last-Modified |
/// | `redirect=<url>` | 302 to that URL (a comma or semicolon in it has to be escaped once more) |
/// | `redirect-loop` | 302 to itself |
/// | `redirectxN` | N times 302 to another target of this server, then the entity |
/// | `expired-redirect` | 302 to a signed URL that serves one request and answers 403 after that |
/// | `one-connection` | 503 while another transfer of the same target is open |
struct Fault: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        case reset(after: Int64)
        case truncate(after: Int64)
        case stall(after: Int64)
        case slowHead(milliseconds: Int64)
        case change
        case changeLength
        case ignoreRanges
        case ignoreIfRange
        case wrongRange
        case wrongTotal
        case unaskedPartial
        case multipart
        case unsatisfiable(Unsatisfiable)
        case fail(status: Int)
        case retryAfter(seconds: Int64, asDate: Bool)
        case empty(status: Int)
        case html
        case gzip
        case chunked
        case chunkedWithoutEnd
        case weakTag
        case noValidator
        case redirect(to: String)
        case redirectLoop
        case redirects(Int)
        case expiredRedirect
        case oneConnection
    }

    /// What a 416 says about the entity's length.
    enum Unsatisfiable: Sendable, Equatable { case length, complete, nothing }

    var kind: Kind
    /// The number of the first request it applies to, from 1.
    var from = 1
    /// How many requests it applies to; nil is all.
    var times: Int?

    /// Whether it applies to the request with that number.
    func applies(to request: Int) -> Bool {
        guard request >= from else { return false }
        guard let times else { return true }
        return request - from < times
    }
}

/// A `fault=` that says nothing known.
struct FaultError: Error, Equatable {
    let text: String
    var message: String { "Unknown fault \"\(text)\". See the table at the type Fault in DemoUpstream." }
}

extension Fault {
    /// Reads a parameter's value: faults separated by commas.
    static func parse(_ text: String) throws(FaultError) -> [Fault] {
        var faults: [Fault] = []
        for part in text.split(separator: ",") { faults.append(try Fault(String(part))) }
        return faults
    }

    private init(_ text: String) throws(FaultError) {
        let parts = text.split(separator: ";").map(String.init)
        guard let name = parts.first, let (kind, times) = Self.kind(name) else { throw FaultError(text: text) }
        self.kind = kind
        self.times = times
        for option in parts.dropFirst() {
            if let number = Self.number(after: "times=", in: option) {
                self.times = Int(number)
            } else if let number = Self.number(after: "from=", in: option), number >= 1 {
                from = Int(number)
            } else {
                throw FaultError(text: text)
            }
        }
    }

    private static let plain: [String: Kind] = [
        "change": .change, "change-length": .changeLength, "ignore-ranges": .ignoreRanges, "ignore-if-range": .ignoreIfRange,
        "wrong-range": .wrongRange, "wrong-total": .wrongTotal, "unasked-206": .unaskedPartial, "multipart": .multipart,
        "416": .unsatisfiable(.length), "416-complete": .unsatisfiable(.complete), "416-bare": .unsatisfiable(.nothing),
        "204": .empty(status: 204), "205": .empty(status: 205), "html": .html, "gzip": .gzip, "chunked": .chunked,
        "chunked-no-end": .chunkedWithoutEnd, "weak-etag": .weakTag, "no-validator": .noValidator,
        "redirect-loop": .redirectLoop, "expired-redirect": .expiredRedirect, "one-connection": .oneConnection,
    ]

    private static func kind(_ name: String) -> (Kind, times: Int?)? {
        if let kind = plain[name] { return (kind, nil) }
        if let count = number(after: "reset@", in: name) { return (.reset(after: count), nil) }
        if let count = number(after: "truncate@", in: name) { return (.truncate(after: count), nil) }
        if let count = number(after: "stall@", in: name) { return (.stall(after: count), nil) }
        if let time = number(after: "slow-head@", in: name) { return (.slowHead(milliseconds: min(time, 600_000)), nil) }
        if let time = number(after: "retry-after=date@", in: name) { return (.retryAfter(seconds: time, asDate: true), nil) }
        if let time = number(after: "retry-after=", in: name) { return (.retryAfter(seconds: time, asDate: false), nil) }
        if let count = number(after: "redirectx", in: name) { return (.redirects(Int(min(count, 1000))), nil) }
        if name.hasPrefix("redirect=") { return (.redirect(to: String(name.dropFirst(9))), nil) }
        let status = name.split(separator: "x", omittingEmptySubsequences: false)
        guard status.count <= 2, let code = Int(status[0]), status[0].utf8.count == 3, (400...599).contains(code) else {
            return nil
        }
        if status.count == 1 { return (.fail(status: code), nil) }
        guard let times = number(after: "", in: String(status[1])) else { return nil }
        return (.fail(status: code), Int(times))
    }

    /// A number of digits only, at most 2⁵³, after a prefix.
    private static func number(after prefix: String, in text: String) -> Int64? {
        guard text.hasPrefix(prefix) else { return nil }
        let digits = text.utf8.dropFirst(prefix.utf8.count)
        guard !digits.isEmpty, digits.count <= 15, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(String(decoding: Array(digits), as: UTF8.self))
    }
}
