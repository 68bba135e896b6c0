public import Foundation
import Glibc
import Synchronization

/// Closes all descriptors from a number on in the child. Swift's Glibc module does not import it.
@_silgen_name("posix_spawn_file_actions_addclosefrom_np")
private func addCloseFrom(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ first: Int32) -> Int32

/// A program that a test starts, used like Foundation's `Process`. That one reads beyond the end of a buffer when it looks which
/// descriptors are open, which now and then ends the process, and all tests with it.
public final class TestProcess: @unchecked Sendable {
    /// Where a program reads from or writes to.
    public protocol Stream {
        /// The end that is the program's.
        func end(isInput: Bool) -> FileHandle
        /// The end that only the program has from its start on.
        func given(isInput: Bool) -> FileHandle?
    }

    /// The system did not start it.
    public struct NotStarted: Error, CustomStringConvertible {
        /// The program, and the reason.
        public let description: String
    }

    /// What to run.
    public var executableURL: URL?
    /// Without the program's name.
    public var arguments: [String] = []
    /// All its variables; the test's own if there are none.
    public var environment = ProcessInfo.processInfo.environment
    /// The test's own if there is none.
    public var standardInput: (any Stream)?
    /// The test's own if there is none.
    public var standardOutput: (any Stream)?
    /// The test's own if there is none.
    public var standardError: (any Stream)?

    /// What the system knows it by.
    public private(set) var processIdentifier: Int32 = 0
    /// How it ended, once that is known, as the system has it. While it is not, the number is no other process's.
    private let ending = Mutex<Int32?>(nil)

    /// One that has no program yet.
    public init() {}

    /// Starts it, with all signals as they are by default, and none of the test's descriptors but its streams.
    public func run() throws {
        guard let path = executableURL?.path else { throw NotStarted(description: "no program is named") }
        let streams = [standardInput, standardOutput, standardError]
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (number, stream) in streams.enumerated() {
            guard let end = stream?.end(isInput: number == 0) else { continue }
            unsafe posix_spawn_file_actions_adddup2(&actions, end.fileDescriptor, Int32(number))
        }
        // In the child, so that it also closes what another thread opens meanwhile.
        _ = unsafe addCloseFrom(&actions, 3)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let words = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        let variables = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
        defer { unsafe (words + variables).forEach { unsafe free($0) } }
        let error = unsafe posix_spawn(&processIdentifier, path, &actions, &attributes, words, variables)
        for (number, stream) in streams.enumerated() { try? stream?.given(isInput: number == 0)?.close() }
        guard error == 0 else { throw NotStarted(description: "\(path): \(unsafe String(cString: strerror(error)))") }
    }

    /// Whether it has not ended.
    public var isRunning: Bool {
        ending.withLock { ending in
            reap(&ending, WNOHANG)
            return processIdentifier > 0 && ending == nil
        }
    }

    /// Waits for its end.
    public func waitUntilExit() {
        var information = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(processIdentifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        ending.withLock { reap(&$0, 0) }
    }

    /// Its status, or the number of the signal that ended it.
    public var terminationStatus: Int32 {
        let status = ending.withLock { $0 } ?? 0
        return status & 0x7F == 0 ? status >> 8 & 0xFF : status & 0x7F
    }

    /// Sends it a signal, unless it has ended.
    public func signal(_ number: Int32) {
        ending.withLock { ending in
            reap(&ending, WNOHANG)
            if ending == nil, processIdentifier > 0 { _ = kill(processIdentifier, number) }
        }
    }

    /// Sends it SIGTERM.
    public func terminate() { signal(SIGTERM) }

    private func reap(_ ending: inout Int32?, _ options: Int32) {
        guard ending == nil, processIdentifier > 0 else { return }
        var status: Int32 = 0
        var found: Int32
        repeat { found = unsafe waitpid(processIdentifier, &status, options) } while found < 0 && errno == EINTR
        if found == processIdentifier { ending = status }
    }
}

extension FileHandle: TestProcess.Stream {
    /// Itself.
    public func end(isInput: Bool) -> FileHandle { self }
    /// It stays the test's, too.
    public func given(isInput: Bool) -> FileHandle? { nil }
}

extension Pipe: TestProcess.Stream {
    /// The program's side.
    public func end(isInput: Bool) -> FileHandle { isInput ? fileHandleForReading : fileHandleForWriting }
    /// The same: when the program closes it, the other side shows that.
    public func given(isInput: Bool) -> FileHandle? { end(isInput: isInput) }
}
