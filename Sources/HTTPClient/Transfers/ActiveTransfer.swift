import CCurl
import HTTPCore
import Synchronization

/// A transfer that libcurl is carrying out: what its callbacks read and write. Belongs to one loop's thread.
final class ActiveTransfer {
    let transfer: Transfer
    let sink: any TransferSink
    /// The handle of the current hop.
    private(set) var easy: EasyHandle
    var hop: Hop
    /// The cookies of the hops before; nil: there was no redirect.
    private(set) var cookies: CookieJar?
    var policy: RedirectPolicy
    var reader: ResponseHeadReader
    var timer: TransferTimer
    /// Watches a body in chunks.
    private var framing: FramingMonitor?
    /// The final head, once the sink has it.
    var head: ClientResponseHead?
    /// How many bytes of the final body have come. The sink has them before it is told of the end.
    var bodyBytes: Int64 = 0
    /// The file that this hop sends, if it sends one.
    private(set) var content: FileContent?
    /// Why a callback ended the transfer.
    var failure: ClientError?
    /// Where the response that is coming in redirects to.
    var next: Hop?
    /// How much of a redirect's own body may still be read.
    var drainable = 0
    /// Addresses of this hop: whether one was let through, and why the last one was not.
    var hasAdmittedAddress = false
    var refusal: String?
    /// The sockets that were opened for this hop.
    private var openedSockets: [Int32] = []
    /// The connection of this hop, once it is ready.
    private(set) var connection: ConnectionTable.Endpoints?
    /// The connection of this hop if it was used before, until the first line of the response has come.
    private var reused: ReusedConnection?
    /// Whether this hop must not use a connection that was used before.
    private(set) var isOnNewConnection = false
    /// Whether the hop has to be repeated, since its connection brought what was not asked for.
    private(set) var needsNewConnection = false
    /// Holds the body back as the speed limits want it.
    var gate: SpeedGate
    /// How much of what libcurl will hand over again has already passed the gate.
    private var alreadyPassed = 0
    /// Whether libcurl has the easy handle.
    var isWithLibrary = false
    let bufferBytes: Int
    let maximumHeadBytes: Int
    let maximumRedirectBodyBytes: Int
    /// Told when a time limit may have come closer.
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
        policy = RedirectPolicy(transfer.request)
        reader = ResponseHeadReader(maximumBytes: configuration.maximumHeadBytes)
        timer = TransferTimer(request: transfer.request, now: now)
        content = Self.content(of: hop, in: transfer.request)
        gate = SpeedGate(transfer.request.speedLimiters)
        let buffer = min(max(configuration.receiveBufferBytes, 16 * 1024), 10 * 1024 * 1024)
        // libcurl keeps, and copies, what it has read while the transfer is held back: no more than a fraction of a second's
        // worth. The size cannot be changed later.
        let limit = gate.bytesPerSecond
        bufferBytes = limit > 0 ? min(buffer, max(16 * 1024, Int(clamping: limit / 64))) : buffer
        maximumHeadBytes = configuration.maximumHeadBytes
        maximumRedirectBodyBytes = configuration.maximumRedirectBodyBytes
    }

    /// Goes on to the next hop, or repeats the current one.
    func begin(_ next: Hop, with easy: EasyHandle, onNewConnection: Bool, now: ContinuousClock.Instant) {
        let jar = cookies ?? CookieJar()
        jar.keep(self.easy, for: hop.url)
        cookies = jar
        hop = next
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
        framing = nil
        timer.beginHop(now: now)
    }

    private static func content(of hop: Hop, in request: ClientRequest) -> FileContent? {
        guard hop.sendsBody, case .file(let file, let range) = request.body else { return nil }
        return FileContent(file: file, range: range)
    }

    /// Where this hop is sent to.
    var origin: String { hop.url.origin }

    /// What this hop is sent through; nil: it goes directly.
    var proxy: Proxy? { driver.configuration.proxy(for: hop.url) }

    // MARK: What libcurl's callbacks tell

    /// Checks an address before it is connected to.
    func admits(_ address: IPAddress?) -> Bool {
        // The address is the proxy's, which the operator chose; where the proxy goes, only the URL tells, and that was checked before.
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

    /// A socket was opened for this hop.
    func opened(_ socket: Int32) {
        openedSockets.append(socket)
        driver.connections.opened(socket)
    }

    /// The connection is ready; libcurl may have opened it for another request, under another guard.
    func connected(to address: IPAddress?, _ endpoints: ConnectionTable.Endpoints?) -> Bool {
        guard !transfer.isCancelled else { return false }
        // libcurl repeats a request by itself on a new connection when the used one has ended without a response.
        reused = nil
        connection = endpoints
        guard admits(address) else {
            failure = .destinationForbidden(refusal ?? hop.url.host, status: hop.redirectStatus)
            return false
        }
        if !driver.connections.connected(endpoints, onOneOf: openedSockets) {
            // RFC 9112 §9.2: what has come already is no response to this request.
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
        driver.noteDue(timer.due)
        return true
    }

    /// Whether the first line of a response may be one to this request.
    private func isAnswered() -> Bool {
        guard let connection = reused else { return true }
        reused = nil
        if connection.canBeAnswered(sendsContent: hop.sendsBody) { return true }
        // What may have been carried out is not sent again by itself.
        needsNewConnection = hop.method == "GET" || hop.method == "HEAD"
        driver.trust.broke(origin)
        failure = .transferBroken("a response came before its request")
        return false
    }

    /// Fills a buffer with what follows of the file; returns how many bytes that are, 0 at its end, or nil to end the transfer.
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

    /// libcurl sends the content again, from that byte on; returns whether that is possible.
    func seekContent(to offset: Int64) -> Bool { content?.seek(to: offset) ?? false }

    /// One line of a head or of trailers; returns whether to go on.
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
        // Without a tunnel the proxy answers in the origin's place.
        if reader.status.code == 407, let proxy, proxy.scheme != .socks5h, hop.url.scheme == "http" {
            failure = .proxyRefused("\(proxy)")
            return false
        }
        let location = reader.fields.bytes(.location).map(Self.text)
        switch policy.decide(status: reader.status, location: location, hop: hop) {
        case .fail(let error):
            failure = error
            return false
        case .follow(let hop):
            next = hop
            drainable = maximumRedirectBodyBytes
            driver.redirects(self)
            return true
        case .deliver:
            let head = ClientResponseHead(
                status: reader.status, fields: reader.fields, url: hop.url, version: reader.version,
                contentLength: announcedLength)
            self.head = head
            if head.fields.contains(.transferEncoding) {
                framing = FramingMonitor(now: .now)
                driver.noteDue(framing?.due)
            }
            return follows(sink.received(head))
        }
    }

    /// A Location as text. Bytes that are not UTF-8 are percent-encoded one by one, so that the origin is asked for what it wrote.
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

    /// What becomes of bytes that libcurl hands over.
    enum Reception {
        case taken
        /// They are to be handed over again when the transfer has been told to go on.
        case heldBack
        case ended
    }

    /// Bytes of a body.
    func receivedBody(_ bytes: RawSpan) -> Reception {
        guard !transfer.isCancelled, failure == nil else { return .ended }
        if next != nil {
            drainable -= bytes.byteCount
            return drainable >= 0 ? .taken : .ended
        }
        guard head != nil else {
            failure = .invalidResponse("its body comes before its head")
            return .ended
        }
        // What was held back comes again from its first byte on, in pieces that need not be the same.
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

    /// Gives the sink what has been gathered of the body; returns whether to go on.
    func handOver(_ bytes: RawSpan) -> Bool { follows(sink.received(bytes)) }

    private func follows(_ decision: SinkDecision) -> Bool {
        if decision == .stop { failure = .stopped }
        return decision == .proceed
    }

    /// What Content-Length says of the bytes that the sink gets.
    private var announcedLength: Int64? {
        guard case .success(let length) = ResponseHeadReader.contentLength(reader.fields) else { return nil }
        let isDecoded = transfer.request.acceptsEncodings && reader.fields.contains(.contentEncoding)
        return isDecoded ? nil : length
    }

    // MARK: Limits

    /// When to look at the limits; nil: nothing is limited.
    var due: ContinuousClock.Instant? {
        guard let framing = framing?.due else { return timer.due }
        return timer.due.map { min($0, framing) } ?? framing
    }

    /// The limit that is exceeded, if any.
    func exceeded(now: ContinuousClock.Instant) -> ClientError? {
        if let error = timer.exceeded(bytes: bodyBytes, sent: content?.sent ?? 0, now: now) { return error }
        guard let due = framing?.due, now >= due else { return nil }
        let received = driver.connections.socket(connection).flatMap { ConnectionTable.bytesRead(from: $0) }
        guard let received, framing?.isExceeded(received: received, body: bodyBytes, now: now) == true else { return nil }
        return .transferBroken("the body is little but chunk extensions")
    }

    // MARK: How it ended

    /// What libcurl's result for this hop means, given that it is the last one.
    func outcome(_ code: pawl_curl_code) -> Result<TransferSummary, ClientError> {
        if transfer.isCancelled { return .failure(.cancelled) }
        if let failure { return .failure(failure) }
        guard code == CURLE_OK else {
            if let proxy, easy.connectStatus == 407 { return .failure(.proxyRefused("\(proxy)")) }
            // The request was sent: before 8.1.0, this is what libcurl says of a folded first field line.
            if code == CURLE_BAD_FUNCTION_ARGUMENT, connection != nil {
                return .failure(.invalidResponse("its first field line is folded"))
            }
            // Every address was refused, so none was tried.
            if let refusal, !hasAdmittedAddress {
                return .failure(.destinationForbidden(refusal, status: hop.redirectStatus))
            }
            let detail = easy.detail(code)
            if let proxy, ClientError.meansWrongProxyCredentials(code, detail) { return .failure(.proxyRefused("\(proxy)")) }
            return .failure(ClientError(code: code, detail: detail))
        }
        // libcurl is content with half a head.
        guard let head else { return .failure(.transferBroken("the connection ended within the response head")) }
        let hasBody = hop.method != "HEAD" && !head.status.forbidsBody
        if hasBody, let length = head.contentLength, length != bodyBytes {
            return .failure(.transferBroken("\(bodyBytes) bytes of \(length)"))
        }
        return .success(TransferSummary(head: head, bodyBytes: bodyBytes))
    }
}
