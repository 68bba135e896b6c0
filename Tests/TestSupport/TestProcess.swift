public import Foundation
import Glibc
import Synchronization

/// Closes all descriptors from a number on in the child. Swift's Glibc module does not import it.
@_silgen_name("posix_spawn_file_actions_addclosefrom_np")
private func addCloseFrom(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ first: Int32) -> Int32

/// A program that a test starts, with the interface of Foundation's `Process`. Foundation's one reads beyond the end of
/// a buffer when it lists open descriptors, which sometimes ends the process with all tests.
public final class TestProcess: @unchecked Sendable {
    /// A source or target of a program's stream.
    public protocol Stream {
        /// The program's end.
        func end(isInput: Bool) -> FileHandle
        /// The end that only the program has after its start.
        func given(isInput: Bool) -> FileHandle?
    }

    /// The system did not start the program.
    public struct NotStarted: Error, CustomStringConvertible {
        /// The program, and the reason.
        public let description: String
    }

    /// The path of the program.
    public var executableURL: URL?
    /// The arguments without the program's name.
    public var arguments: [String] = []
    /// All variables; empty for the test's own.
    public var environment = ProcessInfo.processInfo.environment
    /// The source of standard input; the test's own by default.
    public var standardInput: (any Stream)?
    /// The target of standard output; the test's own by default.
    public var standardOutput: (any Stream)?
    /// The target of standard error; the test's own by default.
    public var standardError: (any Stream)?

    /// The process id.
    public private(set) var processIdentifier: Int32 = 0
    /// The status of the ended process in the system's form; nil before the end. Until then, no other process has its
    /// id.
    private let ending = Mutex<Int32?>(nil)

    /// Creates a process without a program.
    public init() {}

    /// Starts the program with default signals, and without the test's descriptors other than its streams.
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
        // In the child, so that descriptors that another thread opens at the same time are closed too.
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

    /// Whether the process runs.
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

    /// Its exit status, or the number of the signal that ended it.
    public var terminationStatus: Int32 {
        let status = ending.withLock { $0 } ?? 0
        return status & 0x7F == 0 ? status >> 8 & 0xFF : status & 0x7F
    }

    /// Sends a signal, unless the process has ended.
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
    /// The descriptor itself.
    public func end(isInput: Bool) -> FileHandle { self }
    /// The test keeps the descriptor, too.
    public func given(isInput: Bool) -> FileHandle? { nil }
}

extension Pipe: TestProcess.Stream {
    /// The program's side.
    public func end(isInput: Bool) -> FileHandle { isInput ? fileHandleForReading : fileHandleForWriting }
    /// The same: when the program closes it, the other side notices.
    public func given(isInput: Bool) -> FileHandle? { end(isInput: isInput) }
}
