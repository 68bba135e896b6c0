import CCurl
import HTTPCore

extension ActiveTransfer {
    /// Sets all options of libcurl for the hop; returns the error if that fails.
    func configure(_ configuration: ClientConfiguration) -> ClientError? {
        guard setDestination(configuration), setRequest(configuration) else {
            return failure ?? .invalidRequest("libcurl refused the request: \(hop.method) \(hop.url)")
        }
        setSecurity(configuration)
        setFlow()
        setCallbacks()
        return nil
    }

    private func setDestination(_ configuration: ClientConfiguration) -> Bool {
        // The connection must lead to the destination that the guard allowed, or to the operator's proxy. So other
        // protocols are excluded, as are proxies of the environment: an empty text makes libcurl ignore its variables.
        guard easy.set(CURLOPT_URL, hop.url.string), easy.set(CURLOPT_PROXY, proxy?.fullURL ?? ""), easy.set(CURLOPT_NOPROXY, ""),
            proxy == nil || setProxy(configuration),
            easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
                || easy.set(CURLOPT_PROTOCOLS, Int(CURLPROTO_HTTP | CURLPROTO_HTTPS))
        else { return false }
        if driver.failedHosts.contains(hop.url.host, now: .now) { easy.set(CURLOPT_DNS_CACHE_TIMEOUT, 0) }
        // Dot segments are kept, since servers may treat them differently.
        return easy.set(CURLOPT_PATH_AS_IS, 1)
            // RedirectPolicy follows redirects, not libcurl.
            && easy.set(CURLOPT_FOLLOWLOCATION, 0)
            && easy.set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED))
    }

    private func setProxy(_ configuration: ClientConfiguration) -> Bool {
        // The proxy's head for CONNECT must not appear as the response's. Fields are sent to the proxy only if it needs
        // them.
        guard easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1), easy.set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE)) else {
            return false
        }
        guard proxy?.scheme == .https else { return true }
        if let caFile = configuration.caFile, !easy.set(CURLOPT_PROXY_CAINFO, caFile) { return false }
        return easy.set(CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    }

    private func setRequest(_ configuration: ClientConfiguration) -> Bool {
        let request = transfer.request
        // HTTP/1.1 means one connection for each transfer. Then TCP's flow control is per transfer: a slow disk or a
        // speed limit slows down only its own origin, and segments are truly parallel. HTTP/2 would share one window.
        guard easy.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)), easy.set(CURLOPT_HTTP09_ALLOWED, 1),
            easy.set(CURLOPT_USERAGENT, configuration.userAgent)
        else { return false }
        // A libcurl without HTTP/2 refuses, and asks once more by HTTP/1.1.
        if offersHTTP2 { easy.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS)) }
        if request.acceptsEncodings, !easy.set(CURLOPT_ACCEPT_ENCODING, "gzip, deflate") { return false }
        switch hop.method {
        case "HEAD":
            guard easy.set(CURLOPT_NOBODY, 1) else { return false }
        case "GET" where !hop.sendsBody:
            guard easy.set(CURLOPT_HTTPGET, 1) else { return false }
        default:
            // RFC 9110 §8.6: methods that define content send its length, even if it is zero.
            let expectsContent = ["POST", "PUT", "PATCH"].contains(hop.method)
            if let content, content.count > 0 {
                guard content.count <= Self.smallContent ? setSmallContent(content) : setContent(content) else { return false }
            } else if hop.sendsBody || expectsContent {
                var bytes: [UInt8] = []
                if hop.sendsBody, case .bytes(let body) = request.body { bytes = body }
                guard easy.set(body: bytes) else { return false }
            }
            guard easy.set(CURLOPT_CUSTOMREQUEST, hop.method) else { return false }
        }
        // libcurl handles no cookies: CookieJar does.
        return easy.set(fields: fieldLines())
    }

    /// Gives libcurl the whole content, which it then sends together with the head.
    private func setSmallContent(_ content: FileContent) -> Bool {
        var bytes = [UInt8](repeating: 0, count: Int(content.count))
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe readContent(into: $0) }
        return count == bytes.count && easy.set(body: bytes)
    }

    /// The maximum number of bytes of content that is sent together with the head. libcurl sends up to 64 KiB so.
    private static let smallContent: Int64 = 32 * 1024

    /// Makes libcurl read the content from the file during the transfer.
    private func setContent(_ content: FileContent) -> Bool {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        guard easy.set(CURLOPT_UPLOAD, 1), easy.set(CURLOPT_INFILESIZE_LARGE, offset: content.count),
            unsafe pawl_easy_set_read_function(easy.pointer, TransferCallbacks.read) == CURLE_OK,
            unsafe pawl_easy_set_seek_function(easy.pointer, TransferCallbacks.seek) == CURLE_OK,
            unsafe easy.set(CURLOPT_READDATA, pointer: context), unsafe easy.set(CURLOPT_SEEKDATA, pointer: context)
        else { return false }
        // libcurl before 7.62 lacks this option, and has a fixed size.
        easy.set(CURLOPT_UPLOAD_BUFFERSIZE, Self.sendBufferBytes)
        return true
    }

    /// The number of bytes of a file per read and write. It needs fewer system calls than libcurl's 64 KiB, but more
    /// memory for each transfer.
    private static let sendBufferBytes = 256 * 1024

    /// Decides the fields of this hop, in libcurl's syntax.
    private func fieldLines() -> [[UInt8]] {
        let request = transfer.request
        let chosen = HopFields(of: hop, in: request, driver.credentials.credentials, cookies, now: Self.secondsSinceEpoch)
        var lines = chosen.fields.map { Self.line($0.name, Array($0.value.utf8)) }
        // An origin that has asked for Digest gets no password by Basic.
        login = chosen.login
        let answer = login.flatMap { driver.credentials.answer($0, for: hop) }
        answeredChallenge = answer?.challenge
        if let value = answer?.authorization ?? chosen.authorization {
            lines.append(Self.line("Authorization", Array(value.utf8)))
        }
        if let cookie = chosen.cookie { lines.append(Self.line("Cookie", cookie)) }
        if let range = request.range { lines.append(Self.line("Range", Array(range.utf8))) }
        if let ifRange = request.ifRange { lines.append(Self.line("If-Range", ifRange.bytes)) }
        if !request.acceptsEncodings { lines.append(Array("Accept-Encoding: identity".utf8)) }
        if hop.method != "HEAD", hop.method != "GET" || hop.sendsBody {
            // These suppress libcurl's defaults: `Expect: 100-continue`, and the content type of a form.
            lines.append(Array("Expect:".utf8))
            let hasType = chosen.fields.contains { FieldName($0.name) == .contentType }
            if !hasType { lines.append(Array("Content-Type:".utf8)) }
        }
        return lines
    }

    private static func line(_ name: String, _ value: [UInt8]) -> [UInt8] {
        value.allSatisfy { $0 == 0x20 || $0 == 0x09 } ? Array("\(name);".utf8) : Array("\(name): ".utf8) + value
    }

    private func setSecurity(_ configuration: ClientConfiguration) {
        easy.set(CURLOPT_SSL_VERIFYPEER, 1)
        easy.set(CURLOPT_SSL_VERIFYHOST, 2)
        easy.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if let caFile = configuration.caFile { easy.set(CURLOPT_CAINFO, caFile) }
    }

    private func setFlow() {
        let request = transfer.request
        easy.set(CURLOPT_NOSIGNAL, 1)
        easy.set(CURLOPT_TCP_KEEPALIVE, 1)
        easy.set(CURLOPT_BUFFERSIZE, bufferBytes)
        // 0 would be libcurl's own limit of five minutes.
        easy.set(CURLOPT_CONNECTTIMEOUT_MS, max(1, (request.connectTimeout ?? .seconds(Int64.max)).wholeMilliseconds))
        // The end of a transfer must not wait for name resolution; the resolver's thread then cleans up.
        easy.set(CURLOPT_QUICK_EXIT, 1)
    }

    private func setCallbacks() {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe easy.set(CURLOPT_PRIVATE, pointer: context)
        unsafe easy.set(CURLOPT_WRITEDATA, pointer: context)
        unsafe easy.set(CURLOPT_HEADERDATA, pointer: context)
        unsafe easy.set(CURLOPT_OPENSOCKETDATA, pointer: context)
        unsafe pawl_easy_set_write_function(easy.pointer, TransferCallbacks.write)
        unsafe pawl_easy_set_header_function(easy.pointer, TransferCallbacks.header)
        unsafe pawl_easy_set_open_socket_function(easy.pointer, TransferCallbacks.openSocket)
        unsafe pawl_easy_set_close_socket_function(easy.pointer, TransferCallbacks.closeSocket)
        unsafe easy.set(CURLOPT_CLOSESOCKETDATA, pointer: Unmanaged.passUnretained(driver).toOpaque())
        let isCheckedWhenReused =
            unsafe pawl_easy_set_prerequest_function(easy.pointer, TransferCallbacks.prerequest) == CURLE_OK
            && easy.set(CURLOPT_PREREQDATA, pointer: context)
        // libcurl before 7.80 does not report which connection it reuses. So each request uses a new connection, whose
        // address is checked.
        let connection = !isCheckedWhenReused || isOnNewConnection ? .new : driver.connection(to: origin)
        if connection != .any { easy.set(CURLOPT_FRESH_CONNECT, 1) }
        if connection == .single || offersHTTP2 { easy.set(CURLOPT_FORBID_REUSE, 1) }
    }
}

extension Duration {
    /// The duration in milliseconds, rounded down, from 0 to a maximum that a C long holds on all platforms.
    var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < 2_000_000 else { return 2_000_000_000 }
        return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
    }
}
