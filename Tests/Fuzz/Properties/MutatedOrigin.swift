import Glibc
import System

/// An origin on loopback that sends any bytes as responses to requests, and a correct response to `/good`.
///
/// Each connection has its own thread, and closes after some milliseconds without a request.
final class MutatedOrigin: Sendable {
    /// The port on 127.0.0.1.
    let port: Int
    /// The responses to the next requests, in order; then the connection closes.
    let answers = Locked<[[UInt8]]>([])

    /// The response to `/good`.
    static let good = Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood".utf8)

    init?() {
        // Writing to a connection that the client has closed is an error, not a signal.
        signal(SIGPIPE, SIG_IGN)
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(listener, address, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard isListening else { return nil }
        port = Int(UInt16(bigEndian: address.sin_port))
        let answers = answers
        _ = try? Thread.start(name: "origin") {
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                _ = try? Thread.start(name: "connection") {
                    Self.serve(client, answers)
                    close(client)
                }
            }
        }
    }

    private static func serve(_ client: Int32, _ answers: Locked<[[UInt8]]>) {
        // On a busy machine, the first request may arrive milliseconds after the connection. The client does not repeat
        // it.
        limitWaiting(for: client, to: timeval(tv_sec: 5, tv_usec: 0))
        var request: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe recv(client, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            request += buffer[..<count]
            guard request.count >= 4, request.suffix(4).elementsEqual("\r\n\r\n".utf8) else { continue }
            let isGood = request.starts(with: "GET /good ".utf8)
            let answer = isGood ? good : answers.withLock { $0.isEmpty ? [] : $0.removeFirst() }
            request = []
            guard !answer.isEmpty, unsafe send(client, answer, answer.count, 0) == answer.count else { return }
            // A client that waits for further bytes learns soon that there are none.
            limitWaiting(for: client, to: timeval(tv_sec: 0, tv_usec: 4_000))
        }
    }

    /// Limits how long reading from a connection waits.
    private static func limitWaiting(for client: Int32, to limit: timeval) {
        var limit = limit
        unsafe setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
}
