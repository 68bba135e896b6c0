internal import Glibc
internal import System

/// The terminal of standard input and output: its size, and the settings to restore.
public final class TerminalDevice: Sendable {
    /// The size of a terminal.
    public struct Size: Sendable, Equatable {
        /// The number of columns.
        public var columns: Int
        /// The number of rows.
        public var rows: Int

        /// Creates a size from its parts.
        public init(columns: Int, rows: Int) {
            self.columns = columns
            self.rows = rows
        }
    }

    private struct State {
        /// The original settings; `nil` unless they were changed.
        var original: termios?
        var isOpen = false
        var isRestored = false
        /// The last drawn screen.
        var drawn = ""
    }

    /// Switches to the alternate screen (xterm) and hides the cursor.
    private static let entering = "\u{1B}[?1049h\u{1B}[?25l"
    private static let leaving = "\u{1B}[?25h\u{1B}[?1049l"

    private let state = Locked(State())

    /// Creates a device that has changed nothing.
    public init() {}

    /// Whether standard output is a terminal.
    public static var isOutput: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether standard output is a terminal that can be drawn on: `TERM` is neither empty nor `dumb`.
    /// - Parameter name: The variable `TERM`.
    public static func canDraw(on name: String?) -> Bool {
        isOutput && name != nil && name != "" && name != "dumb"
    }

    /// Whether standard input is a terminal.
    public static var isInput: Bool { isatty(STDIN_FILENO) == 1 }

    /// The size of standard output's terminal; 80 columns and 24 rows if it is unknown.
    public static var size: Size {
        var size = winsize()
        let isKnown = unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0
        return Size(
            columns: isKnown && size.ws_col > 0 ? Int(size.ws_col) : 80, rows: isKnown && size.ws_row > 0 ? Int(size.ws_row) : 24)
    }

    /// Takes over the whole screen, and sets the terminal to pass on single keys instead of lines.
    public func open() {
        state.withLock { state in
            guard !state.isOpen, !state.isRestored else { return }
            state.isOpen = true
            var settings = termios()
            if unsafe tcgetattr(STDIN_FILENO, &settings) == 0 {
                state.original = settings
                settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
                // Control-Z and Control-\ would end the program without restoring the terminal. Control-C sends a
                // signal that ends it in order.
                unsafe withUnsafeMutableBytes(of: &settings.c_cc) { unsafe $0[Int(VSUSP)] = 0 }
                unsafe withUnsafeMutableBytes(of: &settings.c_cc) { unsafe $0[Int(VQUIT)] = 0 }
                unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
            }
            Self.write(Self.entering)
        }
    }

    /// Draws a screen: lines from the top, with the rest cleared. Does nothing if it equals the last drawn screen, or
    /// once the terminal is restored.
    public func draw(_ lines: [TerminalLine], size: Size, _ appearance: Appearance) {
        var text = "\u{1B}[?2026h\u{1B}[H\u{1B}[?7l"
        for (index, line) in lines.prefix(size.rows).enumerated() {
            if index > 0 { text += "\r\n" }
            text += line.clipped(to: size.columns, appearance).rendered(appearance) + "\u{1B}[K"
        }
        text += "\u{1B}[J\u{1B}[?7h\u{1B}[?2026l"
        state.withLock { state in
            // Equal lines are drawn again if the size has changed.
            let drawn = "\(size.columns) \(size.rows) \(text)"
            guard state.isOpen, !state.isRestored, state.drawn != drawn else { return }
            state.drawn = drawn
            Self.write(text)
        }
    }

    /// Restores the terminal. May be called from any thread, any number of times.
    public func restore() {
        state.withLock { state in
            guard state.isOpen, !state.isRestored else { return }
            state.isRestored = true
            Self.write(Self.leaving)
            if var original = state.original { unsafe tcsetattr(STDIN_FILENO, TCSANOW, &original) }
        }
    }

    /// Reads typed bytes, waiting at most `milliseconds`. Blocks. `nil` at the end of the input.
    public static func read(within milliseconds: Int32) -> [UInt8]? {
        var poller = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&poller, 1, milliseconds) > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(STDIN_FILENO, $0.baseAddress, $0.count) }
        if count < 0 { return errno == EINTR || errno == EAGAIN ? [] : nil }
        return count == 0 ? nil : Array(bytes.prefix(count))
    }

    private static func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if errno != EINTR {
                return
            }
        }
    }
}
