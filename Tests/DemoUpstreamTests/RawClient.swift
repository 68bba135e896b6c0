import Foundation
import Glibc

/// A client that speaks HTTP/1.1 as bare bytes over one connection, so that a test sees exactly what was on the wire. It gives up after
/// twenty seconds of silence. Waiting occupies a thread of its own, not one of those that run tasks.
final class RawClient {
    /// How a connection ended, or didn't.
    enum Ending: Equatable {
        /// The answer was complete.
        case complete
        /// The server closed in order, with an answer unfinished or of unknown length.
        case closed
        /// The server reset the connection.
        case reset
        /// Nothing came for as long as the client waits.
        case silence
    }

    struct Answer {
        var status = 0
        var fields: [(name: String, value: String)] = []
        /// Decoded if it was chunked.
        var body: [UInt8] = []
        var ending = Ending.complete
        /// Whether it was chunked, and the last chunk came.
        var isChunkedWhole = false

        subscript(_ name: String) -> String? { fields.first { $0.name == name.lowercased() }?.value }
    }

    struct Failure: Error { let call: String }

    private let descriptor: Int32
    private let silence: Int
    private var input: [UInt8] = []

    /// - Parameters:
    ///   - base: `http://127.0.0.1:port`.
    ///   - silence: how long to wait for the next bytes, in milliseconds.
    init(base: String, silence: Int = 60_000) throws {
        self.silence = silence
        let port = base.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure(call: "connect") }
    }

    deinit { close(descriptor) }

    /// Sends a request and reads its answer.
    static func get(
        _ base: String, _ target: String, fields: [String] = [], method: String = "GET", silence: Int = 60_000
    ) async throws -> Answer {
        let client = try RawClient(base: base, silence: silence)
        return try await client.get(target, fields: fields, method: method)
    }

    func get(_ target: String, fields: [String] = [], method: String = "GET") async throws -> Answer {
        try send(target, fields: fields, method: method)
        return await readAnswer(hasBody: method != "HEAD")
    }

    func send(_ target: String, fields: [String] = [], method: String = "GET") throws {
        let lines = ["\(method) \(target) HTTP/1.1", "Host: localhost"] + fields + ["", ""]
        let bytes = Array(lines.joined(separator: "\r\n").utf8)
        let sent = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard sent == bytes.count else { throw Failure(call: "send") }
    }

    /// Reads one answer's head, then its body.
    func readAnswer(hasBody: Bool = true) async -> Answer {
        var answer = await readHead()
        guard answer.ending == .complete, hasBody, answer.status != 204, answer.status != 304 else { return answer }
        await readBody(into: &answer)
        return answer
    }

    func readHead() async -> Answer {
        var answer = Answer()
        var end = headEnd()
        while end == nil {
            if let ending = await receive() {
                answer.ending = ending
                return answer
            }
            end = headEnd()
        }
        let head = String(decoding: input[..<(end ?? 0)], as: UTF8.self)
        input.removeFirst((end ?? 0) + 4)
        let lines = head.split(separator: "\r\n").map(String.init)
        answer.status = Int(lines.first?.split(separator: " ").dropFirst().first ?? "") ?? 0
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { continue }
            answer.fields.append((parts[0].lowercased(), parts[1].drop { $0 == " " }.description))
        }
        return answer
    }

    func readBody(into answer: inout Answer) async {
        if answer["Transfer-Encoding"] == "chunked" { return await readChunks(into: &answer) }
        let length = answer["Content-Length"].flatMap { Int($0) }
        while input.count < length ?? .max {
            if let ending = await receive() {
                answer.ending = ending
                break
            }
        }
        let count = min(length ?? input.count, input.count)
        answer.body = Array(input.prefix(count))
        input.removeFirst(count)
    }

    private func readChunks(into answer: inout Answer) async {
        while true {
            while let end = input.firstIndex(of: 0x0A) {
                let line = String(decoding: input[..<end], as: UTF8.self)
                let size = Int(line.prefix { $0.isHexDigit }, radix: 16) ?? 0
                guard input.count >= end + 1 + size + 2 else { break }
                answer.body += input[(end + 1)..<(end + 1 + size)]
                input.removeFirst(end + 1 + size + 2)
                if size == 0 {
                    answer.isChunkedWhole = true
                    return
                }
            }
            if let ending = await receive() {
                answer.ending = ending
                return
            }
        }
    }

    /// Reads what there is, waiting for it if need be; returns how the connection ended if it did.
    func receive() async -> Ending? {
        while true {
            switch read() {
            case EAGAIN: guard await isReadable() else { return .silence }
            case let failure?: return failure == 0 ? .closed : .reset
            case nil: return nil
            }
        }
    }

    /// Nil if something was read; otherwise errno, or 0 at the end. Not asynchronous, for errno belongs to a thread.
    private func read() -> Int32? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe buffer.withUnsafeMutableBytes {
            unsafe recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
        }
        let failure = count < 0 ? errno : 0
        guard count > 0 else { return failure }
        input += buffer.prefix(count)
        return nil
    }

    private func isReadable() async -> Bool {
        let (descriptor, silence) = (descriptor, silence)
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                let count = unsafe poll(&polled, 1, Int32(silence))
                continuation.resume(returning: count > 0)
            }
        }
    }

    private func headEnd() -> Int? {
        guard input.count >= 4 else { return nil }
        return (0...(input.count - 4)).first {
            input[$0] == 13 && input[$0 + 1] == 10 && input[$0 + 2] == 13 && input[$0 + 3] == 10
        }
    }
}
