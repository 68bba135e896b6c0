package import DownloadCore
package import System

/// Lists the downloads in transfer in a small file, for the next run after a crash.
///
/// The file is written but never flushed, because the system keeps the writes of a process that dies. It has lines of
/// 32 bytes. The first line has the mark of a crash.
package final class TransferJournal: Sendable {
    /// The maximum number of transfers that are listed. Further ones are left out.
    private static let capacity = 1_024
    private static let lineLength = 32
    private static let title = "pawl: in transfer "

    private struct State {
        var lines: [RecordID: Int] = [:]
        /// The lines of ended transfers, which are used again.
        var free: [Int] = []
        /// The number of lines at the end of `free` that still name their transfers.
        var stale = 0
        /// The number of lines that have been used.
        var used = 0
    }

    private let file: FileDescriptor
    private let state = Locked(State())
    /// The downloads that were in transfer at the end of the last run, with their stages. Empty if it ended cleanly.
    package let found: [RecordID: CrashSuspicion.Stage]
    /// Whether the last run left the mark of a crash.
    package let isMarked: Bool

    /// Opens the file, and reads the lines of the last run.
    /// - Throws: An error if the file cannot be used. Transfers do not need it.
    package init(in directory: Directory) throws(SystemError) {
        file = try directory.open("in-transfer", .keeping)
        var bytes = [UInt8](repeating: 0, count: Self.lineLength * (Self.capacity + 1))
        bytes.removeLast(bytes.count - (try file.read(into: &bytes, count: bytes.count, at: 0)))
        isMarked = bytes.count > Self.title.utf8.count && bytes[Self.title.utf8.count] == UInt8(ascii: "!")
        var found: [RecordID: CrashSuspicion.Stage] = [:]
        for start in stride(from: Self.lineLength, to: bytes.count, by: Self.lineLength) {
            let line = bytes[start..<min(start + Self.lineLength, bytes.count)]
            guard line.count == Self.lineLength, let id = RecordID(parsing: line.prefix(RecordID.length)),
                let stage = CrashSuspicion.Stage(rawValue: line[line.startIndex + RecordID.length + 1])
            else { continue }
            found[id] = stage
        }
        self.found = found
    }

    /// Clears the file, once its downloads have been recorded or when the run ends cleanly.
    package func clear() {
        state.withLock { $0 = State() }
        write(Array((Self.title + "-").utf8), at: 0)
        try? file.truncate(to: Int64(Self.lineLength))
    }

    /// Makes a crash of this process leave its mark in the file.
    package func markCrashes() {
        CrashMark.write(to: file, at: Int64(Self.title.utf8.count))
    }

    /// Adds a transfer that begins.
    package func begin(_ id: RecordID) {
        let line: Int? = state.withLock { state in
            if let line = state.lines[id] { return line }
            let line: Int
            if let free = state.free.popLast() {
                line = free
                state.stale = max(0, state.stale - 1)
            } else {
                guard state.used < Self.capacity else { return nil }
                state.used += 1
                line = state.used
            }
            state.lines[id] = line
            return line
        }
        if let line { write(Self.line(id, .begun), at: line) }
    }

    /// Sets the stage of a transfer.
    package func note(_ stage: CrashSuspicion.Stage, of id: RecordID) {
        if let line = state.withLock({ $0.lines[id] }) { write(Self.line(id, stage), at: line) }
    }

    /// Removes a transfer that has ended. The next transfer that begins overwrites the line, and ``settle()`` clears it
    /// if none does.
    package func end(_ id: RecordID) {
        state.withLock { state in
            guard let line = state.lines.removeValue(forKey: id) else { return }
            state.free.append(line)
            state.stale += 1
        }
    }

    /// Clears the lines of ended transfers that no other transfer has taken over.
    package func settle() {
        state.withLock { state in
            for line in state.free.suffix(state.stale) { write([], at: line) }
            state.stale = 0
        }
    }

    private static func line(_ id: RecordID, _ stage: CrashSuspicion.Stage) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(lineLength)
        id.encode(into: &line)
        line += [UInt8(ascii: " "), stage.rawValue]
        return line
    }

    /// Writes a line.
    /// - Parameter text: The text, which is shorter than the line.
    private func write(_ text: [UInt8], at line: Int) {
        var bytes = text
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: Self.lineLength - 1 - bytes.count))
        bytes.append(UInt8(ascii: "\n"))
        // If the disk is full, the line is lost, and a crash is not noticed.
        try? unsafe file.write(bytes.span.bytes, at: Int64(line * Self.lineLength))
    }
}
