import CCurl
import HTTPCore
import Synchronization
import System

/// The state of a transfer that libcurl carries out, which its callbacks use. Belongs to one loop's thread.
final class ActiveTransfer {
    let transfer: Transfer
    let sink: any TransferSink
    /// The handle of the current hop.
    private(set) var easy: EasyHandle
    var hop: Hop
    /// The origin of the current hop.
    private(set) var origin: String
    /// The cookies that the responses so far have set.
    private(set) var cookies = CookieJar()
    /// The login of this hop; nil: none.
    var login: Login?
    /// The nonce of the Digest challenge that this hop answers; nil: none.
    var answeredChallenge: DigestChallenge?
    var policy: RedirectPolicy
    var reader: ResponseHeadReader
    var timer: TransferTimer
    /// The monitor of a chunked body.
    private var framing: FramingMonitor?
    /// The final head, once the sink has received it.
    var head: ClientResponseHead?
    /// The number of bytes of the final body that have arrived. The sink receives all of them before the end.
    var bodyBytes: Int64 = 0
    /// The file content of this hop; nil if there is none.
    private(set) var content: FileContent?
    /// The reason why a callback ended the transfer.
    var failure: ClientError?
    /// The next hop, if the current response is a redirect.
    var next: Hop?
    /// The number of bytes of a redirect's own body that may still be read.
    var drainable = 0
    /// Whether an address of this hop was admitted, and the reason for the last refusal.
    var hasAdmittedAddress = false
    var refusal: String?
    /// Whether this process had no descriptor for a connection of this hop.
    var lacksDescriptor = false
    /// The time until which the transfer waits for a descriptor; nil before the first wait.
    var waitEnd: ContinuousClock.Instant?
    /// The sockets that were opened for this hop.
    private var openedSockets: [Int32] = []
    /// The connection of this hop, once it is ready.
    private(set) var connection: ConnectionSockets.Endpoints?
    /// The connection of this hop if it is reused, until the first line of the response has arrived.
    private var reused: ReusedConnection?
    /// Whether this hop must use a new connection.
    private(set) var isOnNewConnection = false
    /// Whether this hop offers HTTP/2, to find out whether the server speaks nothing else.
    private(set) var offersHTTP2 = false
    /// Whether the hop must be repeated because its connection brought an unsolicited response.
    private(set) var needsNewConnection = false
    /// The gate that holds the body back by the speed limits.
    var gate: SpeedGate
    /// The number of bytes that have passed the gate, but that libcurl will pass again.
    private var alreadyPassed = 0
    /// Whether the easy handle has been added to libcurl's multi handle.
    var isWithLibrary = false
    /// Whether libcurl looks for a connection, or opens one.
    var isConnecting = false
    let bufferBytes: Int
    let maximumHeadBytes: Int
    let maximumRedirectBodyBytes: Int
    /// The driver, which is informed of earlier time limits.
    let driver: TransferDriver

    init(
        _ transfer: Transfer, sink: any TransferSink, easy: EasyHandle, driver: TransferDriver, now: ContinuousClock.Instant
    ) {
        self.transfer = transfer
        self.sink = sink
        self.easy = easy
        self.driver = driver
        let configuration = driver.configuration
        hop = Hop(transfer.request)
        origin = hop.url.origin
        policy = RedirectPolicy(transfer.request)
        reader = ResponseHeadReader(maximumBytes: configuration.maximumHeadBytes)
        timer = TransferTimer(request: transfer.request, now: now)
        content = Self.content(of: hop, in: transfer.request)
        gate = SpeedGate(transfer.request.speedLimiters)
        let buffer = min(max(configuration.receiveBufferBytes, 16 * 1024), 10 * 1024 * 1024)
        // While a transfer is held back, libcurl keeps and copies its buffer, so a slow transfer has a small one: a
        // fraction of a second's bytes. The size cannot be changed later.
        let limit = gate.bytesPerSecond
        // The response to a request that sends a file is small.
        let slowBytes = limit > 0 ? max(16 * 1024, Int(clamping: limit / 64)) : buffer
        bufferBytes = content != nil ? 16 * 1024 : min(buffer, slowBytes)
        maximumHeadBytes = configuration.maximumHeadBytes
        maximumRedirectBodyBytes = configuration.maximumRedirectBodyBytes
    }

    /// Begins the next hop, or repeats the current one.
    func begin(
        _ next: Hop, with easy: EasyHandle, onNewConnection: Bool, offeringHTTP2: Bool, now: ContinuousClock.Instant
    ) {
        hop = next
        offersHTTP2 = offeringHTTP2
        origin = hop.url.origin
        self.easy = easy
        openedSockets.removeAll()
        connection = nil
        reused = nil
        isOnNewConnection = onNewConnection
        needsNewConnection = false
        content = Self.content(of: hop, in: transfer.request)
        self.next = nil
        failure = nil
        reader = ResponseHeadReader(maximumBytes: maximumHeadBytes)
        hasAdmittedAddress = false
        refusal = nil
        lacksDescriptor = false
        framing = nil
        timer.beginHop(now: now)
    }

    private static func content(of hop: Hop, in request: ClientRequest) -> FileContent? {
        guard hop.sendsBody, case .file(let file, let range) = request.body else { return nil }
        return FileContent(file: file, range: range)
    }

    /// The proxy of this hop; nil: none.
    var proxy: Proxy? { driver.configuration.proxy(for: hop.url) }

    // MARK: Callbacks of libcurl

    /// Checks an address before a connection to it.
    func admits(_ address: IPAddress?) -> Bool {
        // The address is the proxy's, which the operator chose. The proxy's destination is known only by the URL, which
        // was checked before.
        guard let destinationGuard = transfer.request.guarding, proxy == nil else { return true }
        guard let address else {
            refusal = refusal ?? "\(hop.url.host) at an address of an unknown family"
            return false
        }
        switch destinationGuard.evaluate(address, port: hop.url.port, forHost: hop.url.host) {
        case .allowed:
            hasAdmittedAddress = true
            return true
        case .forbidden(let reason):
            refusal = reason
            return false
        case .dependsOnAddress:
            refusal = "\(hop.url.host) at \(address)"
            return false
        }
    }

    /// Records a socket that was opened for this hop.
    func opened(_ socket: Int32) {
        openedSockets.append(socket)
        driver.connections.opened(socket)
    }

    /// Checks the connection that is ready: libcurl may have opened it for another request with another guard.
    func connected(to address: IPAddress?, _ endpoints: ConnectionSockets.Endpoints?) -> Bool {
        driver.noteConnected(self)
        guard !transfer.isCancelled else { return false }
        // libcurl repeats a request on a new connection if the reused one ended without a response.
        reused = nil
        connection = endpoints
        guard admits(address) else {
            failure = .destinationForbidden(refusal ?? hop.url.host, status: hop.redirectStatus)
            return false
        }
        if !driver.connections.connected(endpoints, onOneOf: openedSockets) {
            // RFC 9112 §9.2: bytes that have already arrived are not a response to this request.
            guard let socket = driver.connections.socket(endpoints),
                let connection = ReusedConnection(socket, isEncrypted: hop.url.scheme == "https" || proxy?.scheme == .https)
            else {
                needsNewConnection = true
                driver.trust.broke(origin)
                return false
            }
            reused = connection
        }
        timer.connected(now: .now)
        if content?.isAtEnd == true { timer.contentSent(now: .now) }
        driver.noteDue(timer.due)
        return true
    }

    /// Whether the first line of a response may belong to this request.
    private func isAnswered() -> Bool {
        guard let connection = reused else { return true }
        reused = nil
        if connection.canBeAnswered(sendsContent: hop.sendsBody) { return true }
        // Only safe methods are repeated, since the server may have carried out the request.
        needsNewConnection = hop.method == "GET" || hop.method == "HEAD"
        driver.trust.broke(origin)
        failure = .transferBroken("a response came before its request")
        return false
    }

    /// Reads the file's next bytes into a buffer. Returns their number, which is 0 at the end, or nil to end the
    /// transfer.
    func readContent(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard !transfer.isCancelled, let result = unsafe content?.read(into: buffer) else { return nil }
        switch result {
        case .success(let count):
            if content?.isAtEnd ?? true {
                timer.contentSent(now: .now)
                driver.noteDue(timer.due)
            }
            return count
        case .failure(let error):
            failure = error
            return nil
        }
    }

    /// Continues the content at an offset, because libcurl sends it again. Returns false if that is not possible.
    func seekContent(to offset: Int64) -> Bool { content?.seek(to: offset) ?? false }

    /// Receives one line of a head or of trailers; returns whether the transfer continues.
    func receivedLine(_ line: Span<UInt8>) -> Bool {
        guard !transfer.isCancelled, isAnswered() else { return false }
        switch reader.read(line) {
        case .incomplete: return true
        case .failed(let error):
            let isRedirect = RedirectPolicy.statuses.contains(reader.status.code)
            failure = isRedirect ? .invalidRedirect(status: reader.status.code, error.message) : error
            return false
        case .complete: return headIsComplete()
        }
    }

    private func headIsComplete() -> Bool {
        timer.headArrived(now: .now)
        driver.noteDue(timer.due)
        // Without a tunnel, the proxy responds in place of the origin.
        if reader.status.code == 407, let proxy, proxy.scheme != .socks5h, hop.url.scheme == "http" {
            failure = .proxyRefused("\(proxy)")
            return false
        }
        cookies.store(reader.fields, from: hop.url, now: Self.secondsSinceEpoch)
        if let hop = hopWithAnswer() {
            follow(hop)
            return true
        }
        let location = reader.fields.bytes(.location).map(Self.text)
        switch policy.decide(status: reader.status, location: location, hop: hop) {
        case .fail(let error):
            failure = error
            return false
        case .follow(let hop):
            sink.redirected(by: responseHead)
            follow(hop)
            return true
        case .deliver:
            let head = responseHead
            self.head = head
            if head.fields.contains(.transferEncoding) {
                framing = FramingMonitor(now: .now)
                driver.noteDue(framing?.due)
            }
            return follows(sink.received(head))
        }
    }

    private func follow(_ hop: Hop) {
        next = hop
        drainable = maximumRedirectBodyBytes
        driver.redirects(self)
    }

    /// Returns the hop that answers the response's Digest challenge; nil if the login was refused, or there is none.
    private func hopWithAnswer() -> Hop? {
        guard reader.status.code == 401, login != nil, hop.answeredChallenges < 2 else { return nil }
        let challenges = AuthenticationChallenge.all(in: reader.fields)
        guard let challenge = DigestChallenge.strongest(of: challenges) else {
            // The next exchange may use Basic. In this one a listener could have forged the response to get the password.
            if answeredChallenge != nil, challenges.contains(where: { $0.scheme == "basic" }) {
                driver.credentials.keep(nil, of: origin)
            }
            return nil
        }
        if let answeredChallenge {
            // A kept nonce may have ended, which not every origin calls stale.
            let isOld = hop.answeredChallenges == 0 || challenge.isStale
            guard isOld, !challenge.isSame(as: answeredChallenge) else { return nil }
        }
        driver.credentials.keep(challenge, of: origin)
        var hop = hop
        hop.answeredChallenges += 1
        return hop
    }

    static var secondsSinceEpoch: Int64 { SystemTime.sinceEpoch / 1_000_000_000 }

    /// The head that has been read.
    private var responseHead: ClientResponseHead {
        var head = ClientResponseHead(
            status: reader.status, fields: reader.fields, url: hop.url, contentLength: announcedLength)
        head.permanentURL = hop.permanentURL
        head.isConditional = hop.sendsConditions && !transfer.request.conditions.isEmpty
        head.trust = hop.trust
        return head
    }

    /// Decodes a Location. Bytes that are not ASCII are percent-encoded if the text is not UTF-8, so that the request
    /// has the origin's bytes.
    private static func text(_ location: ArraySlice<UInt8>) -> String {
        if let text = String(validating: location, as: UTF8.self) { return text }
        return location.reduce(into: "") { text, byte in
            if byte < 0x80 {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%" + String(byte, radix: 16, uppercase: true)
            }
        }
    }

    /// The result of passing bytes of a body.
    enum Reception {
        case taken
        /// libcurl must pass the bytes again when the transfer continues.
        case heldBack
        case ended
    }

    /// Receives bytes of a body.
    func receivedBody(_ bytes: RawSpan) -> Reception {
        guard !transfer.isCancelled, failure == nil else { return .ended }
        if next != nil {
            drainable -= bytes.byteCount
            return drainable >= 0 ? .taken : .ended
        }
        guard head != nil else {
            // HTTP/0.9 is refused here, and not by libcurl, because the bytes of HTTP/2 without TLS look like it.
            failure = Self.beginsHTTP2(bytes) ? .onlyHTTP2 : .invalidResponse("it has no status line")
            return .ended
        }
        // Bytes that were held back are passed again from the first one on, perhaps in other pieces.
        var passed = min(alreadyPassed, bytes.byteCount)
        alreadyPassed -= passed
        while passed < bytes.byteCount {
            let count = min(gate.allowance { .now }, bytes.byteCount - passed)
            guard count > 0 else {
                alreadyPassed = passed
                driver.holdBack(self)
                return .heldBack
            }
            bodyBytes += Int64(count)
            gate.passed(count)
            transfer.loop.received.add(UInt64(count), ordering: .relaxed)
            guard driver.gather(bytes.extracting(passed..<passed + count), of: self) else { return .ended }
            passed += count
        }
        return .taken
    }

    /// Whether bytes begin with SETTINGS, which is a server's first frame in HTTP/2 (RFC 9113 §3.4, §4.1, §6.5).
    private static func beginsHTTP2(_ bytes: RawSpan) -> Bool {
        let frame = unsafe bytes.withUnsafeBytes { unsafe Array($0.prefix(9)) }
        return frame.first == 0 && frame.dropFirst(3) == [4, 0, 0, 0, 0, 0]
    }

    /// Whether the server ended a connection without a response, as one that speaks only HTTP/2 does over TLS.
    func maySpeakOnlyHTTP2(_ code: pawl_curl_code) -> Bool {
        code == CURLE_GOT_NOTHING && connection != nil && hop.url.scheme == "https" && !offersHTTP2
            && ["GET", "HEAD"].contains(hop.method) && !hop.sendsBody
    }

    /// Whether the last byte of the final body has arrived. False if its length is unknown.
    var hasWholeBody: Bool { head?.contentLength == bodyBytes }

    /// Passes bytes of the body to the sink; returns whether the transfer continues.
    func handOver(_ bytes: RawSpan) -> Bool { follows(sink.received(bytes)) }

    private func follows(_ decision: SinkDecision) -> Bool {
        if decision == .stop { failure = .stopped }
        return decision == .proceed
    }

    /// The length of the sink's bytes by Content-Length; nil if unknown.
    private var announcedLength: Int64? {
        let isDecoded = transfer.request.acceptsEncodings && reader.fields.contains(.contentEncoding)
        return isDecoded ? nil : reader.contentLength
    }

    // MARK: Limits

    /// The time of the next check of the limits; nil if there are none.
    var due: ContinuousClock.Instant? {
        guard let framing = framing?.due else { return timer.due }
        return timer.due.map { min($0, framing) } ?? framing
    }

    /// The error for an exceeded limit; nil if there is none.
    func exceeded(now: ContinuousClock.Instant) -> ClientError? {
        let error = timer.exceeded(bytes: bodyBytes, sent: content?.sent ?? 0, now: now) { sink.extendedLimit() }
        if let error { return error }
        guard let due = framing?.due, now >= due else { return nil }
        let received = driver.connections.socket(connection).flatMap { ConnectionSockets.bytesRead(from: $0) }
        guard let received, framing?.isExceeded(received: received, body: bodyBytes, now: now) == true else { return nil }
        return .transferBroken("the body is mostly chunk extensions")
    }

    // MARK: Outcome

    /// Whether the end of the connection is the end of the body (RFC 9112 §6.3).
    private var endsWithConnection: Bool {
        head.map { !$0.fields.contains(.contentLength) && !$0.fields.contains(.transferEncoding) } ?? false
    }

    /// The outcome of libcurl's result for this hop, if it is the last one.
    func outcome(_ code: pawl_curl_code) -> Result<TransferSummary, ClientError> {
        if transfer.isCancelled { return .failure(.cancelled) }
        if let failure { return .failure(failure) }
        let lacksCloseNotify = code == CURLE_RECV_ERROR && endsWithConnection && TLSRefusal.isEndWithoutNotice(easy.detail(code))
        guard code == CURLE_OK || lacksCloseNotify else {
            if let proxy, easy.connectStatus == 407 { return .failure(.proxyRefused("\(proxy)")) }
            // The request was sent: before 8.1.0, libcurl reports a folded first field line with this code.
            if code == CURLE_BAD_FUNCTION_ARGUMENT, connection != nil {
                return .failure(.invalidResponse("its first field line is folded"))
            }
            // Every address was refused, so there was no connection.
            if let refusal, !hasAdmittedAddress {
                return .failure(.destinationForbidden(refusal, status: hop.redirectStatus))
            }
            let detail = easy.detail(code)
            if let proxy, ClientError.meansWrongProxyCredentials(code, detail) { return .failure(.proxyRefused("\(proxy)")) }
            return .failure(ClientError(code: code, detail: detail))
        }
        // libcurl accepts an incomplete head.
        guard let head else { return .failure(.transferBroken("the connection ended within the response head")) }
        let hasBody = hop.method != "HEAD" && !head.status.forbidsBody
        if hasBody, let length = head.contentLength, length != bodyBytes {
            return .failure(.transferBroken("\(bodyBytes) bytes of \(length)"))
        }
        return .success(TransferSummary(head: head, bodyBytes: bodyBytes, lacksCloseNotify: lacksCloseNotify))
    }
}
