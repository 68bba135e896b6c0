import Glibc
import TestSupport

/// A blocking client over a raw socket, for one thread at a time. Every wait has a limit.
final class TestClient: @unchecked Sendable {
    enum Failure: Error, Equatable {
        case cannotConnect(Int32)
        case timedOut
        case reset
        case ended(soFar: String)
        case malformed(String)
    }

    let descriptor: Int32
    private(set) var buffer: [UInt8] = []

    init(_ port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var on: Int32 = 1
        _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure.cannotConnect(errno) }
    }

    deinit {
        close(descriptor)
    }

    func send(_ text: String) throws {
        try send(Array(text.utf8))
    }

    func send(_ bytes: [UInt8]) throws {
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

    /// Sends a FIN.
    func endOutput() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// The coming close is an RST.
    func resetOnClose() {
        var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    }

    /// Waits for bytes and appends them to the buffer; false at the end of the connection.
    func fill(within seconds: Int = 60, upTo limit: Int = 256 * 1024) throws -> Bool {
        var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&item, 1, Int32(seconds * 1000)) > 0 else { throw Failure.timedOut }
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = unsafe recv(descriptor, &bytes, bytes.count, 0)
        guard count >= 0 else { throw Failure.reset }
        buffer.append(contentsOf: bytes[0..<count])
        return count > 0
    }

    /// Whether the server has closed, with nothing more to read. Waits.
    func isClosed(within seconds: Int = 60) throws -> Bool {
        do { return try !fill(within: seconds) } catch Failure.reset { return true }
    }

    /// Whether nothing comes for that long.
    func isQuiet(milliseconds: Int32) -> Bool {
        var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&item, 1, milliseconds) == 0
    }

    /// Takes so many bytes out of the buffer, waiting for them.
    func take(_ count: Int) throws -> [UInt8] {
        while buffer.count < count { guard try fill() else { throw ended } }
        defer { buffer.removeFirst(count) }
        return Array(buffer.prefix(count))
    }

    func takeLine() throws -> String {
        while true {
            if let end = buffer.firstIndex(of: 0x0A) {
                let line = Array(buffer[..<end])
                buffer.removeFirst(end + 1)
                guard line.last == 0x0D else { throw Failure.malformed(String(decoding: line, as: UTF8.self)) }
                return String(decoding: line.dropLast(), as: UTF8.self)
            }
            guard try fill() else { throw ended }
        }
    }

    func takeRest() throws -> [UInt8] {
        while try fill() {}
        defer { buffer = [] }
        return buffer
    }

    private var ended: Failure { .ended(soFar: String(decoding: buffer.prefix(200), as: UTF8.self)) }

    /// Sends a request without a body and reads the response.
    func get(_ target: String, method: String = "GET", _ fields: String...) throws -> TestResponse {
        let lines = fields.map { $0 + "\r\n" }.joined()
        try send("\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\(lines)\r\n")
        return try readResponse(isHead: method == "HEAD")
    }

    /// Reads one response, its body by its framing.
    func readResponse(isHead: Bool = false) throws -> TestResponse {
        var response = try readHead()
        let length = response["Content-Length"].flatMap { Int($0) }
        if isHead || response.status == 204 || response.status == 304 || response.status < 200 { return response }
        if response["Transfer-Encoding"] == "chunked" {
            while let chunk = try readChunk() { response.body += chunk }
        } else if let length {
            response.body = try take(length)
        } else {
            response.body = try takeRest()
        }
        return response
    }

    func readHead() throws -> TestResponse {
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

    /// One chunk; nil for the last one.
    func readChunk() throws -> [UInt8]? {
        let line = try takeLine()
        guard let size = Int(line, radix: 16) else { throw Failure.malformed(line) }
        let data = try take(size)
        guard try takeLine().isEmpty else { throw Failure.malformed("chunk's end") }
        return size == 0 ? nil : data
    }
}

struct TestResponse {
    var status: Int
    var fields: [(name: String, value: String)] = []
    var body: [UInt8] = []

    init(status: Int) {
        self.status = status
    }

    var text: String { String(decoding: body, as: UTF8.self) }

    subscript(name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    func count(_ name: String) -> Int {
        fields.count { $0.name.lowercased() == name.lowercased() }
    }
}
