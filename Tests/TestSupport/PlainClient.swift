internal import Foundation
import Glibc

/// A blocking HTTP/1.1 client for tests: one request, one answer, one connection; every wait has a limit.
public struct PlainClient: Sendable {
    /// What came back.
    public struct Answer: Sendable {
        /// The status code.
        public let status: Int
        /// Names in lower case, in order.
        public let fields: [(name: String, value: String)]
        /// Decoded of its chunks.
        public let body: [UInt8]

        /// The body as text.
        public var text: String { String(decoding: body, as: UTF8.self) }

        /// The first field of that name (given in lower case).
        public subscript(name: String) -> String? { fields.first { $0.name == name }?.value }
    }

    /// Why there is no answer.
    public enum Failure: Error {
        case connect(Int32)
        case timedOut(String)
        case malformed(String)
    }

    /// On 127.0.0.1.
    public let port: Int
    /// Longest wait for anything to arrive.
    public let patience: Duration

    /// A client of one server.
    public init(port: Int, patience: Duration = .seconds(60)) {
        self.port = port
        self.patience = patience
    }

    /// Sends one request and returns the whole answer.
    public func send(
        _ method: String, _ path: String, fields: [(String, String)] = [], body: [UInt8]? = nil
    ) throws -> Answer {
        let stream = try open(method, path, fields: fields + [("Connection", "close")], body: body)
        let head = try stream.readHead()
        return Answer(status: head.status, fields: head.fields, body: try stream.readBody(head, isHead: method == "HEAD"))
    }

    /// Sends a JSON body.
    public func send(_ method: String, _ path: String, json: String) throws -> Answer {
        try send(method, path, fields: [("Content-Type", "application/json")], body: Array(json.utf8))
    }

    /// Sends one request and leaves the answer to be read piece by piece.
    public func open(
        _ method: String, _ path: String, fields: [(String, String)] = [], body: [UInt8]? = nil
    ) throws -> PlainStream {
        let stream = try PlainStream(port: port, patience: patience)
        var lines = ["\(method) \(path) HTTP/1.1", "Host: 127.0.0.1:\(port)"]
        lines += fields.map { "\($0): \($1)" }
        if let body { lines.append("Content-Length: \(body.count)") }
        try stream.write(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (body ?? []))
        return stream
    }
}

/// A connection whose bytes are read as they are wanted; closed when the value goes away.
public final class PlainStream {
    private let descriptor: Int32
    private let patience: Duration
    private var buffer: [UInt8] = []

    /// Connects to a port of 127.0.0.1.
    public init(port: Int, patience: Duration = .seconds(60)) throws {
        self.patience = patience
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result != 0 { throw PlainClient.Failure.connect(errno) }
    }

    deinit {
        close(descriptor)
    }

    /// Sends all bytes.
    public func write(_ bytes: [UInt8]) throws {
        var done = 0
        while done < bytes.count {
            let sent = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.send(
                    descriptor, buffer.baseAddress.map { unsafe $0 + done }, bytes.count - done, Int32(MSG_NOSIGNAL))
            }
            if sent <= 0 { throw PlainClient.Failure.malformed("the connection was closed while sending") }
            done += sent
        }
    }

    /// Reads more into the buffer; false at the end.
    private func fill() throws -> Bool {
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let milliseconds = Int32(clamping: patience.components.seconds * 1_000)
        guard unsafe poll(&poller, 1, milliseconds) > 0 else {
            throw PlainClient.Failure.timedOut(
                "nothing came for \(patience); so far: \(String(decoding: buffer.suffix(400), as: UTF8.self))")
        }
        var piece = [UInt8](repeating: 0, count: 65_536)
        let got = unsafe piece.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        guard got > 0 else { return false }
        buffer += piece[..<got]
        return true
    }

    /// Reads a line without its end; nil when the connection ended.
    public func readLine() throws -> String? {
        while true {
            if let end = buffer.firstIndex(of: 0x0A) {
                var line = buffer[..<end]
                if line.last == 0x0D { line.removeLast() }
                defer { buffer.removeSubrange(...end) }
                return String(decoding: line, as: UTF8.self)
            }
            guard try fill() else { return nil }
        }
    }

    /// Reads exactly so many bytes, or what there is until the end.
    public func read(_ count: Int) throws -> [UInt8] {
        while buffer.count < count, try fill() {}
        let piece = Array(buffer.prefix(count))
        buffer.removeFirst(piece.count)
        return piece
    }

    /// A status line and its fields.
    public struct Head: Sendable {
        /// The status code.
        public let status: Int
        /// Names in lower case, in order.
        public let fields: [(name: String, value: String)]

        /// The first field of that name (given in lower case).
        public subscript(name: String) -> String? { fields.first { $0.name == name }?.value }
    }

    /// Reads a status line and fields.
    public func readHead() throws -> Head {
        guard let line = try readLine(), line.hasPrefix("HTTP/1."), let status = Int(line.split(separator: " ")[1]) else {
            throw PlainClient.Failure.malformed("no status line")
        }
        var fields: [(name: String, value: String)] = []
        while let line = try readLine(), !line.isEmpty {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            fields.append((parts[0].lowercased(), parts[1].trimmingCharacters(in: .whitespaces)))
        }
        return Head(status: status, fields: fields)
    }

    /// Reads the body that a head announces.
    public func readBody(_ head: Head, isHead: Bool = false) throws -> [UInt8] {
        if isHead || head.status == 204 || head.status == 304 { return [] }
        if head["transfer-encoding"] == "chunked" {
            var body: [UInt8] = []
            while let chunk = try readChunk() { body += chunk }
            return body
        }
        if let length = head["content-length"].flatMap({ Int($0) }) { return try read(length) }
        while try fill() {}
        return buffer
    }

    /// Reads one chunk; nil after the last.
    public func readChunk() throws -> [UInt8]? {
        guard let line = try readLine(), let size = Int(line.split(separator: ";")[0], radix: 16) else {
            throw PlainClient.Failure.malformed("no chunk size")
        }
        let chunk = try read(size)
        guard chunk.count == size, try readLine() == "" else { throw PlainClient.Failure.malformed("chunk cut short") }
        return size == 0 ? nil : chunk
    }
}
