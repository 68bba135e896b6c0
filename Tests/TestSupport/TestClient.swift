import Glibc

/// The tests' HTTP/1.1 client: blocking, over one connection to 127.0.0.1, for one thread at a time. It sends any
/// bytes, valid or invalid, and shows the received ones. Every wait has a limit.
public final class TestConnection: @unchecked Sendable {
    /// The reason why a response is missing or incomplete.
    public enum Failure: Error, Equatable {
        /// The value is `errno`.
        case cannotConnect(Int32)
        /// Nothing arrived within the client's time limit.
        case timedOut(soFar: String)
        /// The server reset the connection.
        case reset
        /// The server closed the connection in order before the expected bytes.
        case ended(soFar: String)
        /// The received bytes are not HTTP, or not the expected ones.
        case malformed(String)
    }

    /// The socket.
    public let descriptor: Int32
    private let port: Int
    private let patience: Duration
    /// Received bytes that were not taken yet.
    private var buffer: [UInt8] = []

    /// Connects. `patience` is the maximum wait for bytes.
    public init(_ port: Int, overIPv6: Bool = false, patience: Duration = .seconds(60)) throws {
        self.port = port
        self.patience = patience
        let family = overIPv6 ? AF_INET6 : AF_INET
        descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var on: Int32 = 1
        _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var address6 = sockaddr_in6()
        address6.sin6_family = sa_family_t(AF_INET6)
        address6.sin6_port = UInt16(port).bigEndian
        address6.sin6_addr = in6addr_loopback
        try overIPv6 ? connect(to: address6) : connect(to: address)
    }

    private func connect<Address>(to address: Address) throws {
        let result = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
        guard result == 0 else { throw Failure.cannotConnect(errno) }
    }

    /// Connects to a Unix socket.
    public init(unixSocket path: String, patience: Duration = .seconds(60)) throws {
        port = 0
        self.patience = patience
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8.prefix(107))
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        try connect(to: address)
    }

    deinit {
        close(descriptor)
    }

    /// The port at this end of a connection over IPv4; 0 if there is none.
    public var localPort: UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &length) }
        }
        return result == 0 ? UInt16(bigEndian: address.sin_port) : 0
    }

    // MARK: - Sending

    /// Sends text as UTF-8.
    public func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Sends all bytes.
    public func send(_ bytes: [UInt8]) throws {
        var position = 0
        while position < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.send(
                    descriptor, buffer.baseAddress.map { unsafe $0 + position }, bytes.count - position, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure.reset }
            position += count
        }
    }

    /// Sends a request with `Host`, and with `Content-Length` if there is a body.
    public func send(_ method: String, _ target: String, fields: [(String, String)] = [], body: [UInt8]? = nil) throws {
        var lines = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1:\(port)"] + fields.map { "\($0): \($1)" }
        if let body { lines.append("Content-Length: \(body.count)") }
        try send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (body ?? []))
    }

    /// Sends a request without a body and reads the response. Fields are whole lines: `"Range: bytes=0-"`.
    public func get(_ target: String, method: String = "GET", _ fields: String...) throws -> TestResponse {
        let lines = fields.map { $0 + "\r\n" }.joined()
        try send("\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\(lines)\r\n")
        return try readResponse(isHead: method == "HEAD")
    }

    /// Sends a FIN.
    public func endOutput() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The coming close is an RST.
    public func resetOnClose() {
        var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    }

    // MARK: - Receiving

    /// Waits for bytes and keeps them; false at the end of the connection.
    public func fill() throws -> Bool {
        var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&item, 1, Int32(clamping: Int(patience / .milliseconds(1)))) > 0 else {
            throw Failure.timedOut(soFar: beginning)
        }
        var bytes = [UInt8](repeating: 0, count: 262_144)
        let count = unsafe recv(descriptor, &bytes, bytes.count, 0)
        guard count >= 0 else { throw Failure.reset }
        buffer.append(contentsOf: bytes[0..<count])
        return count > 0
    }

    /// Whether the server has closed without further bytes. Waits.
    public func isClosed() throws -> Bool {
        do { return try !fill() } catch Failure.reset { return true }
    }

    /// Whether nothing arrives for this time.
    public func isQuiet(milliseconds: Int32) -> Bool {
        var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&item, 1, milliseconds) == 0
    }

    /// Takes this number of bytes, and waits for them.
    public func take(_ count: Int) throws -> [UInt8] {
        while buffer.count < count { guard try fill() else { throw Failure.ended(soFar: beginning) } }
        defer { buffer.removeFirst(count) }
        return Array(buffer.prefix(count))
    }

    /// Takes a line without its CR LF.
    public func takeLine() throws -> String {
        while true {
            if let end = buffer.firstIndex(of: 0x0A) {
                let line = Array(buffer[..<end])
                buffer.removeFirst(end + 1)
                guard line.last == 0x0D else { throw Failure.malformed(String(decoding: line, as: UTF8.self)) }
                return String(decoding: line.dropLast(), as: UTF8.self)
            }
            guard try fill() else { throw Failure.ended(soFar: beginning) }
        }
    }

    /// Takes everything up to the end of the connection.
    public func takeRest() throws -> [UInt8] {
        while try fill() {}
        defer { buffer = [] }
        return buffer
    }

    private var beginning: String { String(decoding: buffer.prefix(400), as: UTF8.self) }

    /// Reads one response, its body by its framing.
    public func readResponse(isHead: Bool = false) throws -> TestResponse {
        var response = try readHead()
        try readBody(of: &response, isHead: isHead)
        return response
    }

    /// Reads a status line and fields.
    public func readHead() throws -> TestResponse {
        let line = try takeLine()
        let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count == 3, words[0] == "HTTP/1.1", let status = Int(words[1]) else { throw Failure.malformed(line) }
        var response = TestResponse(status: status)
        while true {
            let line = try takeLine()
            if line.isEmpty { return response }
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { throw Failure.malformed(line) }
            response.fields.append((String(parts[0]), String(parts[1].drop { $0 == " " })))
        }
    }

    /// Reads the body that a head announces. If it ends early, this throws, and the response has the received bytes.
    public func readBody(of response: inout TestResponse, isHead: Bool = false) throws {
        if isHead || response.status < 200 || response.status == 204 || response.status == 304 { return }
        if response["Transfer-Encoding"] == "chunked" {
            while let chunk = try readChunk() { response.body += chunk }
        } else if let length = response["Content-Length"].flatMap({ Int($0) }) {
            defer {
                response.body = Array(buffer.prefix(length))
                buffer.removeFirst(response.body.count)
            }
            while buffer.count < length { guard try fill() else { throw Failure.ended(soFar: beginning) } }
        } else {
            response.body = try takeRest()
        }
    }

    /// Reads one chunk; nil for the last one.
    public func readChunk() throws -> [UInt8]? {
        let line = try takeLine()
        guard let size = Int(line, radix: 16) else { throw Failure.malformed(line) }
        let data = try take(size)
        guard try takeLine().isEmpty else { throw Failure.malformed("chunk's end") }
        return size == 0 ? nil : data
    }
}

/// A received response.
public struct TestResponse: Sendable {
    /// The status code.
    public var status: Int
    /// The fields in order, with names as sent.
    public var fields: [(name: String, value: String)] = []
    /// The body, decoded from its chunks.
    public var body: [UInt8] = []

    /// A response without fields and body.
    public init(status: Int) { self.status = status }

    /// The body as text.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The first field with this name, ignoring case.
    public subscript(name: String) -> String? { fields.first { $0.name.lowercased() == name.lowercased() }?.value }

    /// The number of fields with this name.
    public func count(_ name: String) -> Int { fields.count { $0.name.lowercased() == name.lowercased() } }
}

/// Sends each request over its own ``TestConnection``.
public struct TestClient: Sendable {
    /// On 127.0.0.1.
    public let port: Int
    /// The maximum wait for bytes.
    public let patience: Duration

    /// A client of one server.
    public init(port: Int, patience: Duration = .seconds(60)) {
        self.port = port
        self.patience = patience
    }

    /// Sends one request and returns the whole response.
    public func send(
        _ method: String, _ target: String, fields: [(String, String)] = [], body: [UInt8]? = nil
    ) throws -> TestResponse {
        try open(method, target, fields: fields + [("Connection", "close")], body: body).readResponse(isHead: method == "HEAD")
    }

    /// Sends a JSON body.
    public func send(_ method: String, _ target: String, json: String) throws -> TestResponse {
        try send(method, target, fields: [("Content-Type", "application/json")], body: Array(json.utf8))
    }

    /// Sends one request and leaves the response to be read piece by piece.
    public func open(
        _ method: String, _ target: String, fields: [(String, String)] = [], body: [UInt8]? = nil
    ) throws -> TestConnection {
        let connection = try TestConnection(port, patience: patience)
        try connection.send(method, target, fields: fields, body: body)
        return connection
    }
}
