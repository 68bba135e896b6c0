#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Whether a client on this machine has read all that was sent to it.
///
/// A reset drops what the kernel still holds, on both sides. A body that is to break off after N bytes does so exactly only if the
/// client has those before; Linux tells in its table of connections (proc(5), /proc/net/tcp).
struct Delivery: Sendable {
    /// The ports of the connection's two ends.
    let serverPort: Int
    let clientPort: Int

    /// True also where the system does not tell.
    var isComplete: Bool {
        ["/proc/self/net/tcp", "/proc/self/net/tcp6"].allSatisfy { isComplete(table: Self.read($0)) }
    }

    /// - Parameter table: lines of `sl local_address rem_address st tx_queue:rx_queue …`, numbers hexadecimal.
    func isComplete(table: String) -> Bool {
        for line in table.split(separator: "\n") {
            let columns = line.split(separator: " ")
            guard columns.count > 4, let local = Self.port(columns[1]), let remote = Self.port(columns[2]) else { continue }
            let queues = columns[4].split(separator: ":").map { Int($0, radix: 16) ?? 0 }
            guard queues.count == 2 else { continue }
            // Sent and not yet acknowledged.
            if local == serverPort, remote == clientPort, queues[0] > 0 { return false }
            // Received and not yet read, if the client is on this machine.
            if local == clientPort, remote == serverPort, queues[1] > 0 { return false }
        }
        return true
    }

    private static func port(_ address: Substring) -> Int? {
        address.split(separator: ":").last.flatMap { Int($0, radix: 16) }
    }

    private static func read(_ path: String) -> String {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe Self.read(descriptor, $0) }
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func read(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
        #if canImport(Glibc)
            unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        #else
            unsafe Darwin.read(descriptor, buffer.baseAddress, buffer.count)
        #endif
    }
}
