internal import System

/// Lists the downloads in transfer in a small file, for the next run after a crash.
///
/// The file is written but never flushed, because the system keeps the writes of a process that dies. It has lines of
/// 32 bytes. The first line has the mark of a crash.
final class TransferJournal: Sendable {
    /// The maximum number of transfers that are listed. Further ones are left out.
    private static let capacity = 1_024
    private static let lineLength = 32
    private static let title = "pawl: in transfer "

    private struct State {
        var lines: [DownloadID: Int] = [:]
        var free: [Int] = []
        /// The number of lines that have been used.
        var used = 0
    }

    private let file: FileDescriptor
    private let state = Locked(State())
    /// The downloads that were in transfer at the end of the last run, with their stages. Empty if it ended cleanly.
    let found: [DownloadID: CrashSuspicion.Stage]
    /// Whether the last run left the mark of a crash.
    let isMarked: Bool

    /// Opens the file, and reads the lines of the last run.
    /// - Throws: An error if the file cannot be used. Transfers do not need it.
    init(in directory: Directory) throws(SystemError) {
        file = try directory.open("in-transfer", .keeping)
        var bytes = [UInt8](repeating: 0, count: Self.lineLength * (Self.capacity + 1))
        bytes.removeLast(bytes.count - (try file.read(into: &bytes, count: bytes.count, at: 0)))
        isMarked = bytes.count > Self.title.utf8.count && bytes[Self.title.utf8.count] == UInt8(ascii: "!")
        var found: [DownloadID: CrashSuspicion.Stage] = [:]
        for start in stride(from: Self.lineLength, to: bytes.count, by: Self.lineLength) {
            let line = bytes[start..<min(start + Self.lineLength, bytes.count)]
            guard line.count == Self.lineLength, let id = DownloadID(parsing: line.prefix(DownloadID.length)),
                let stage = CrashSuspicion.Stage(rawValue: line[line.startIndex + DownloadID.length + 1])
            else { continue }
            found[id] = stage
        }
        self.found = found
    }

    /// Clears the file, once its downloads have been recorded or when the run ends cleanly.
    func clear() {
        state.withLock { $0 = State() }
        write(Self.title + "-", at: 0)
        try? file.truncate(to: Int64(Self.lineLength))
    }

    /// Makes a crash of this process leave its mark in the file.
    func markCrashes() {
        CrashMark.write(to: file, at: Int64(Self.title.utf8.count))
    }

    /// Adds a transfer that begins.
    func begin(_ id: DownloadID) {
        let line: Int? = state.withLock { state in
            if let line = state.lines[id] { return line }
            let line: Int
            if let free = state.free.popLast() {
                line = free
            } else {
                guard state.used < Self.capacity else { return nil }
                state.used += 1
                line = state.used
            }
            state.lines[id] = line
            return line
        }
        if let line { write("\(id) \(Self.letter(.begun))", at: line) }
    }

    /// Sets the stage of a transfer.
    func note(_ stage: CrashSuspicion.Stage, of id: DownloadID) {
        if let line = state.withLock({ $0.lines[id] }) { write("\(id) \(Self.letter(stage))", at: line) }
    }

    /// Removes a transfer that has ended.
    func end(_ id: DownloadID) {
        let line: Int? = state.withLock { state in
            guard let line = state.lines.removeValue(forKey: id) else { return nil }
            state.free.append(line)
            return line
        }
        if let line { write("", at: line) }
    }

    private static func letter(_ stage: CrashSuspicion.Stage) -> Character { Character(UnicodeScalar(stage.rawValue)) }

    private func write(_ text: String, at line: Int) {
        var bytes = [UInt8](repeating: UInt8(ascii: " "), count: Self.lineLength)
        for (index, byte) in text.utf8.enumerated() where index < Self.lineLength - 1 { bytes[index] = byte }
        bytes[Self.lineLength - 1] = UInt8(ascii: "\n")
        // If the disk is full, the line is lost, and a crash is not noticed.
        try? unsafe file.write(bytes.span.bytes, at: Int64(line * Self.lineLength))
    }
}
