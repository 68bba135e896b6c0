import Foundation
import Synchronization

/// A relaying proxy on loopback: an HTTP proxy (CONNECT and the absolute form) and a SOCKS 5 proxy on the same port,
/// distinguished by the first byte. Every name leads to 127.0.0.1, so that a request for an unresolvable name proves
/// that it used the proxy.
///
/// Each direction of a connection has its own blocking thread. Everything ends when the value is freed.
public final class RelayProxy: Sendable {
    /// A request to the proxy.
    public struct Request: Sendable, Equatable {
        /// `CONNECT`, another method, or `SOCKS`.
        public let method: String
        /// The host and port as they were sent.
        public let target: String
        /// The fields of the head, by lower-case names; `user` and `password` of SOCKS.
        public let fields: [String: String]
    }

    /// The port on 127.0.0.1.
    public let port: Int
    private let credentials: (user: String, password: String)?
    private let listener: Int32
    private let seen = Waiter<[Request]>([])

    /// Listens. With credentials, it relays only requests that have them.
    public init(credentials: (user: String, password: String)? = nil) throws {
        self.credentials = credentials
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = Self.loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(listener, address, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard isListening else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        port = Int(UInt16(bigEndian: address.sin_port))
        let (seen, expected) = (seen, credentials)
        Thread.detachNewThread {
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { break }
                Thread.detachNewThread {
                    RelayedConnection(client, expected) { request in seen.update { $0.append(request) } }.serve()
                }
            }
            close(listener)
        }
    }

    deinit {
        // Ends the wait of `accept`; the waiting thread closes the socket.
        _ = shutdown(listener, Int32(SHUT_RDWR))
    }

    /// All requests to the proxy.
    public var requests: [Request] { seen.value }

    static func loopback(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }
}

/// A client of a ``RelayProxy``, used by its thread only.
private final class RelayedConnection {
    private let client: Int32
    private let credentials: (user: String, password: String)?
    private let note: (RelayProxy.Request) -> Void
    private var input: [UInt8] = []
    /// Data that other threads relay to the client.
    private let relaying = DispatchGroup()
    private var origins: [Int32] = []

    init(
        _ client: Int32, _ credentials: (user: String, password: String)?, note: @escaping (RelayProxy.Request) -> Void
    ) {
        self.client = client
        self.credentials = credentials
        self.note = note
    }

    func serve() {
        defer {
            // A descriptor may be closed only when no thread uses it, since its number would mean another connection.
            for origin in origins { _ = shutdown(origin, Int32(SHUT_RDWR)) }
            relaying.wait()
            for descriptor in origins + [client] { close(descriptor) }
        }
        guard let first = read(1)?.first else { return }
        if first == 5 { return serveSOCKS() }
        input.insert(first, at: 0)
        while serveHTTP() {}
    }

    // MARK: HTTP

    /// Relays one request; returns whether another may follow.
    private func serveHTTP() -> Bool {
        guard let head = readHead() else { return false }
        let lines = head.components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ").map(String.init)
        guard words.count == 3 else { return false }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        let isTunnel = words[0] == "CONNECT"
        let rest = words[1].dropFirst("http://".count)
        let authority = isTunnel ? words[1] : String(rest.prefix { $0 != "/" })
        note(RelayProxy.Request(method: words[0], target: authority, fields: fields))
        if let credentials {
            let expected = "Basic " + Data("\(credentials.user):\(credentials.password)".utf8).base64EncodedString()
            guard fields["proxy-authorization"] == expected else {
                send(client, Array("HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n".utf8))
                return !isTunnel
            }
        }
        guard let origin = connect(to: authority.split(separator: ":").last.flatMap { Int($0) } ?? 80) else {
            send(client, Array("HTTP/1.1 502 Nobody\r\nContent-Length: 0\r\n\r\n".utf8))
            return !isTunnel
        }
        if isTunnel {
            send(client, Array("HTTP/1.1 200 Connected\r\nX-From-Proxy: 1\r\n\r\n".utf8))
            relay(origin)
            return false
        }
        let path = rest.drop { $0 != "/" }
        let kept = lines.dropFirst().filter { !$0.lowercased().hasPrefix("proxy-") }
        send(origin, Array((["\(words[0]) \(path) HTTP/1.1"] + kept).joined(separator: "\r\n").utf8) + Array("\r\n\r\n".utf8))
        if let count = fields["content-length"].flatMap({ Int($0) }), count > 0, let body = read(count) { send(origin, body) }
        // The client may send its next request for another origin on this connection.
        origins.append(origin)
        relaying.enter()
        Thread.detachNewThread { [client, relaying] in
            Self.copy(from: origin, to: client)
            relaying.leave()
        }
        return true
    }

    /// A head without its empty line.
    private func readHead() -> String? {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let range = input.firstRange(of: end) {
                let head = String(decoding: input[..<range.lowerBound], as: UTF8.self)
                input.removeSubrange(..<range.upperBound)
                return head
            }
            guard input.count < 1 << 16, receive() else { return nil }
        }
    }

    // MARK: SOCKS 5 (RFC 1928, RFC 1929)

    private func serveSOCKS() {
        guard let count = read(1)?.first, let methods = read(Int(count)) else { return }
        var fields: [String: String] = [:]
        if let credentials {
            guard methods.contains(2) else { return send(client, [5, 0xff]) }
            send(client, [5, 2])
            guard read(1) == [1], let user = readText(), let password = readText() else { return }
            fields = ["user": user, "password": password]
            let isRight = user == credentials.user && password == credentials.password
            send(client, [1, isRight ? 0 : 1])
            guard isRight else { return }
        } else {
            send(client, [5, 0])
        }
        guard let request = read(4), request[1] == 1 else { return }
        let host: String
        switch request[3] {
        case 1: host = (read(4) ?? []).map(String.init).joined(separator: ".")
        case 3: host = readText() ?? ""
        default: host = "[" + (read(16) ?? []).map { String($0, radix: 16) }.joined(separator: ":") + "]"
        }
        guard let bytes = read(2) else { return }
        let port = Int(bytes[0]) << 8 | Int(bytes[1])
        note(RelayProxy.Request(method: "SOCKS", target: "\(host):\(port)", fields: fields))
        let origin = connect(to: port)
        send(client, [5, origin == nil ? 5 : 0, 0, 1, 0, 0, 0, 0, 0, 0])
        if let origin { relay(origin) }
    }

    private func readText() -> String? {
        guard let count = read(1)?.first, let bytes = read(Int(count)) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Sockets

    private func connect(to port: Int) -> Int32? {
        let origin = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = RelayProxy.loopback(port: port)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe Foundation.connect(origin, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result == 0 { return origin }
        close(origin)
        return nil
    }

    /// Copies in both directions until both ends are done.
    private func relay(_ origin: Int32) {
        send(origin, input)
        input = []
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [client] in
            Self.copy(from: origin, to: client)
            isDone.signal()
        }
        Self.copy(from: client, to: origin)
        isDone.wait()
        close(origin)
    }

    private static func copy(from source: Int32, to target: Int32) {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = unsafe recv(source, &buffer, buffer.count, 0)
            guard count > 0, write(target, buffer[..<count]) else { break }
        }
        _ = shutdown(target, Int32(SHUT_WR))
    }

    private func send(_ target: Int32, _ bytes: [UInt8]) { _ = Self.write(target, bytes[...]) }

    private static func write(_ target: Int32, _ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Foundation.send(target, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe recv(client, &buffer, buffer.count, 0)
        if count > 0 { input += buffer[..<count] }
        return count > 0
    }

    private func read(_ count: Int) -> [UInt8]? {
        while input.count < count { guard receive() else { return nil } }
        defer { input.removeFirst(count) }
        return Array(input.prefix(count))
    }
}
