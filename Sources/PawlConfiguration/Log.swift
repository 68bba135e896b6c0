internal import DownloadCore
public import HTTPCore
internal import JSON
internal import System
internal import Terminal

/// Writes the log, one line for each event, to standard error or to a closure.
///
/// Values are passed by name, so that both formats come from one call. Values with secrets are never passed.
public struct Log: Sendable {
    /// A value in a line.
    public enum Value: Sendable {
        case text(String)
        case integer(Int64)
        /// A duration, written in milliseconds with three decimal places.
        case milliseconds(Duration)
    }

    private let level: LogLevel
    private let format: LogFormat
    private let now: @Sendable () -> Timestamp
    private let sink: @Sendable ([UInt8]) -> Void
    /// The writer of a log that does not wait for its reader.
    private var writer: LineWriter?

    /// A log to standard error.
    public init(level: LogLevel, format: LogFormat) {
        self.init(level: level, format: format, now: { .now() }, sink: { StandardStreams.writeError($0) })
    }

    /// Returns a log to standard error that does not wait for its reader. ``flush(within:)`` has to end it.
    public static func queued(level: LogLevel, format: LogFormat) -> Log {
        let direct = Log(level: level, format: format)
        let writer = LineWriter(write: { StandardStreams.writeError($0) }) { count in
            direct.line(
                .warning, "log lines are missing here: standard error was not read", [("count", .integer(Int64(clamping: count)))]
            )
        }
        var log = Log(level: level, format: format, now: { .now() }, sink: { writer.append($0) })
        log.writer = writer
        return log
    }

    /// The number of lines that are missing since standard error was not read.
    public var droppedLines: UInt64 { writer?.droppedLines ?? 0 }

    /// Waits until all lines are written, at most for a time.
    public func flush(within limit: Duration) { writer?.flush(within: limit) }

    /// Writes a text for people among the lines, as it is.
    public func writeText(_ text: String) { sink(Array(text.utf8)) }

    /// A log to a closure; `sink` receives whole lines, on any thread.
    public init(
        level: LogLevel, format: LogFormat, now: @escaping @Sendable () -> Timestamp,
        sink: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.level = level
        self.format = format
        self.now = now
        self.sink = sink
    }

    /// Whether lines of this severity are written. Callers check it before they compute values for a line.
    public func writes(_ level: LogLevel) -> Bool {
        level >= self.level
    }

    /// Writes a line.
    public func write(_ level: LogLevel, _ message: String, _ values: [(name: String, value: Value)] = []) {
        if writes(level) { emit(level, message, values) }
    }

    /// Writes a line at `info` even if the log level is higher.
    public func writeAlways(_ message: String, _ values: [(name: String, value: Value)]) {
        emit(.info, message, values)
    }

    private func emit(_ level: LogLevel, _ message: String, _ values: [(name: String, value: Value)]) {
        sink(line(level, message, values))
    }

    private func line(_ level: LogLevel, _ message: String, _ values: [(name: String, value: Value)]) -> [UInt8] {
        switch format {
        case .text: textLine(level, message, values)
        case .json: jsonLine(level, message, values)
        }
    }

    /// Writes a line without values.
    public func write(_ level: LogLevel, _ message: String) {
        write(level, message, [])
    }

    private func textLine(_ level: LogLevel, _ message: String, _ values: [(name: String, value: Value)]) -> [UInt8] {
        var line: [UInt8] = []
        now().encode(into: &line)
        let name = level.rawValue
        line.append(UInt8(ascii: " "))
        line.append(contentsOf: name.utf8)
        for _ in name.utf8.count..<8 { line.append(UInt8(ascii: " ")) }
        line.append(contentsOf: Self.harmless(message).utf8)
        for (name, value) in values {
            line.append(contentsOf: " \(name)=\(Self.text(value))".utf8)
        }
        line.append(UInt8(ascii: "\n"))
        return line
    }

    private func jsonLine(_ level: LogLevel, _ message: String, _ values: [(name: String, value: Value)]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("time", now().description)
        writer.member("level", level.rawValue)
        writer.member("message", message)
        for (name, value) in values {
            switch value {
            case .text(let text): writer.member(name, text)
            case .integer(let integer): writer.member(name, integer)
            case .milliseconds(let duration): writer.member(name, Self.milliseconds(duration))
            }
        }
        writer.endObject()
        writer.bytes.append(UInt8(ascii: "\n"))
        if writer.bytes.allSatisfy({ $0 < 0x7F }) { return writer.bytes }
        return Array(TerminalJSON.escaped(String(decoding: writer.bytes, as: UTF8.self)).utf8)
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .integer(let integer): return String(integer)
        case .milliseconds(let duration): return String(milliseconds(duration)) + "ms"
        case .text(let text):
            let needsQuotes = text.isEmpty || text.utf8.contains { $0 <= 0x20 || $0 == 0x22 || $0 == 0x3D || $0 == 0x7F }
            guard needsQuotes else { return harmless(text) }
            return TerminalJSON.escaped(String(decoding: JSONValue.string(text).serialized(), as: UTF8.self))
        }
    }

    /// Rounded to whole microseconds.
    private static func milliseconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        let microseconds = Double(seconds) * 1_000_000 + (Double(attoseconds) / 1_000_000_000_000).rounded()
        return microseconds / 1000
    }

    /// The text with `?` in place of line breaks and control characters of terminals.
    private static func harmless(_ text: String) -> String {
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
        return TerminalText(text).string
    }
}
