internal import Glibc

/// Standard output and standard error, unbuffered, so that a line is out when it is written.
public enum StandardStreams {
    /// Writes to standard output.
    public static func writeOutput(_ text: String) {
        write(Array(text.utf8), to: STDOUT_FILENO)
    }

    /// Writes to standard error.
    public static func writeError(_ text: String) {
        write(Array(text.utf8), to: STDERR_FILENO)
    }

    static func writeError(_ bytes: [UInt8]) {
        write(bytes, to: STDERR_FILENO)
    }

    /// Whether standard output is a terminal.
    static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether standard error is a terminal.
    static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// How many columns the terminal of standard output has.
    static var columns: Int {
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Writes all of it, or as much as whoever reads lets us.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if errno != EINTR {
                return
            }
        }
    }
}
