internal import Glibc

/// Standard output and standard error, unbuffered: a line has left the process when the write returns.
public enum StandardStreams {
    /// Writes to standard output.
    /// - Returns: Whether all was written; `false` once the reader of a pipe has closed it.
    @discardableResult
    public static func writeOutput(_ text: String) -> Bool {
        write(Array(text.utf8), to: STDOUT_FILENO)
    }

    /// Writes to standard error.
    public static func writeError(_ text: String) {
        write(Array(text.utf8), to: STDERR_FILENO)
    }

    /// Writes to standard error.
    public static func writeError(_ bytes: [UInt8]) {
        write(bytes, to: STDERR_FILENO)
    }

    /// Whether standard error is a terminal.
    public static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes the bytes until all are written or an error occurs; returns whether all were written.
    @discardableResult
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}
