internal import Glibc

/// Standard output and standard error, unbuffered: a line has left the process when the write returns.
public enum StandardStreams {
    /// Writes to standard output.
    /// - Returns: Whether all was written; `false` once the reader of a pipe has closed it.
    @discardableResult
    public static func writeOutput(_ text: String) -> Bool {
        writeOutput(Array(text.utf8)) == text.utf8.count
    }

    /// Writes to standard output.
    /// - Returns: The number of bytes that were written.
    public static func writeOutput(_ bytes: [UInt8]) -> Int {
        write(bytes, to: STDOUT_FILENO)
    }

    /// Writes to standard error.
    public static func writeError(_ text: String) {
        write(Array(text.utf8), to: STDERR_FILENO)
    }

    /// Writes to standard error.
    /// - Returns: The number of bytes that were written.
    @discardableResult
    public static func writeError(_ bytes: [UInt8]) -> Int {
        write(bytes, to: STDERR_FILENO)
    }

    /// Opens `/dev/null` in the place of standard streams that are closed. Otherwise the next file or socket would get the
    /// number of one, and receive what is written to it. Must be called before anything else is opened.
    /// - Returns: Whether all three are open.
    public static func openAll() -> Bool {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) == -1 {
            // The lowest free number, which is this one.
            guard unsafe open("/dev/null", O_RDWR) == number else { return false }
        }
        return true
    }

    /// Whether standard error is a terminal.
    public static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes the bytes until all are written or an error occurs; returns the number of those that were written.
    @discardableResult
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if errno == EAGAIN {
                // Another program that has the stream has made it non-blocking.
                var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&poller, 1, -1)
            } else if errno != EINTR {
                break
            }
        }
        return bytes.count - rest.count
    }
}
