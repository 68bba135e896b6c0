import Glibc

/// The other serving processes of this program, from /proc. There are none if /proc is missing or hidden from this
/// user.
public enum ServiceProcesses {
    /// An address and port on which a process listens.
    public struct Listener: Sendable, Hashable {
        /// The IP address as text, without brackets.
        public let host: String
        /// The port, 0–65535.
        public let port: Int

        /// Creates a listener from an address and a port.
        public init(host: String, port: Int) {
            self.host = host
            self.port = port
        }
    }

    /// The listeners of each process whose first argument is one of the commands.
    public static func listeners(ofCommands commands: Set<String>) -> [[Listener]] {
        guard let own = target(of: "/proc/self/exe"), let directory = try? Directory(opening: "/proc"),
            let entries = try? directory.entries()
        else { return [] }
        let processes = entries.compactMap { Int32($0) }.sorted().filter { number in
            number != getpid() && target(of: "/proc/\(number)/exe") == own
                && argument(of: number).map(commands.contains) == true
        }
        return processes.map { number in
            let sockets = sockets(of: number)
            return ["tcp", "tcp6"].flatMap { table in
                lines(of: "/proc/\(number)/net/\(table)").compactMap { line in
                    socketTableEntry(line).flatMap { sockets.contains($0.inode) ? $0.listener : nil }
                }
            }
        }
    }

    /// Parses a line of /proc/net/tcp or tcp6 (proc_net(5)) into a listener and its inode; `nil` for sockets in other
    /// states.
    static func socketTableEntry(_ line: String) -> (listener: Listener, inode: UInt64)? {
        let columns = line.split(separator: " ")
        guard columns.count > 9, columns[3] == "0A", let inode = UInt64(columns[9]) else { return nil }
        let parts = columns[1].split(separator: ":")
        guard parts.count == 2, let port = Int(parts[1], radix: 16), let host = address(parts[0]) else { return nil }
        return (Listener(host: host, port: port), inode)
    }

    /// Parses an address of /proc/net, whose words are in this machine's byte order.
    private static func address(_ hexadecimal: Substring) -> String? {
        let digits = Array(hexadecimal)
        guard digits.count == 8 || digits.count == 32 else { return nil }
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: digits.count, by: 8) {
            guard let word = UInt32(String(digits[start..<start + 8]), radix: 16) else { return nil }
            unsafe withUnsafeBytes(of: word) { bytes += unsafe Array($0) }
        }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard let start = unsafe inet_ntop(family, bytes, &text, socklen_t(text.count)) else { return nil }
        return unsafe String(cString: start)
    }

    /// The inodes of a process's open sockets.
    private static func sockets(of process: Int32) -> Set<UInt64> {
        let path = "/proc/\(process)/fd"
        guard let directory = try? Directory(opening: path), let names = try? directory.entries() else { return [] }
        let prefix = "socket:["
        return Set(
            names.compactMap { name in
                guard let target = target(of: "\(path)/\(name)"), target.hasPrefix(prefix) else { return nil }
                return UInt64(target.dropFirst(prefix.count).dropLast())
            })
    }

    private static func argument(of process: Int32) -> String? {
        let bytes = (try? SmallFile.read("/proc/\(process)/cmdline", limit: 4_096)) ?? []
        let arguments = bytes.split(separator: 0, omittingEmptySubsequences: false)
        return arguments.count > 1 ? String(decoding: arguments[1], as: UTF8.self) : nil
    }

    private static func lines(of path: String) -> [String] {
        // A line has 150 bytes, so 4 MiB are 28,000 sockets.
        let bytes = (try? SmallFile.read(path, limit: 4 << 20)) ?? []
        return bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func target(of path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &bytes, bytes.count)
        guard count > 0, count < bytes.count else { return nil }
        return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
