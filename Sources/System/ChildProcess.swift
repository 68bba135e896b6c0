internal import CSystem
internal import Glibc

/// A program that runs as a child of this process and does not outlive it, however this process ends.
///
/// It has a process group of its own, so that Ctrl-C at a terminal is not for it.
public final class ChildProcess: Sendable {
    /// What to run, and how.
    public struct Program: Sendable {
        /// The path of the executable.
        public var path: String
        /// Without the program's name.
        public var arguments: [String]
        /// All variables that it gets.
        public var environment: [String: String]
        /// Where it begins.
        public var directory: String
        /// Whom it runs as, which only root can choose.
        public var user: UserAccount?
        /// The signal that it gets when this process is gone.
        public var deathSignal = Signal.kill

        /// A program that runs as this process's user.
        public init(_ path: String, _ arguments: [String], environment: [String: String], directory: String) {
            self.path = path
            self.arguments = arguments
            self.environment = environment
            self.directory = directory
        }
    }

    /// What a program is told to end by.
    public enum Signal: Sendable {
        /// SIGTERM: as it likes best.
        case terminate
        /// SIGINT.
        case interrupt
        /// SIGQUIT.
        case quit
        /// SIGKILL: at once.
        case kill

        fileprivate var number: Int32 {
            switch self {
            case .terminate: SIGTERM
            case .interrupt: SIGINT
            case .quit: SIGQUIT
            case .kill: SIGKILL
            }
        }
    }

    /// How a program ended.
    public enum Ending: Sendable, Equatable, CustomStringConvertible {
        /// By itself, with a status of 0…255.
        case exited(Int32)
        /// By a signal.
        case signalled(Int32)

        /// As the end of "It …".
        public var description: String {
            switch self {
            case .exited(let status): "ended with status \(status)"
            case .signalled(let number): "was ended by signal \(number)"
            }
        }
    }

    /// What comes from it.
    public enum Output: Sendable, Equatable {
        /// A line of its standard output or standard error, without the line feed. Longer ones than 8 KiB come in pieces.
        case line(String)
        /// It is gone, and so is all that it started and let write to the same place. This is the last.
        case ended(Ending)
    }

    /// The most bytes of a line, and the most lines that wait for a reader, before old ones are dropped.
    private static let longestLine = 8192
    private static let mostLines = 1000

    /// What the system knows it by.
    public let identifier: Int32
    /// All that it writes, and its end; for one reader.
    public let output: AsyncStream<Output>
    private let hasEnded = Locked(false)

    private init(_ identifier: Int32, _ output: AsyncStream<Output>) {
        self.identifier = identifier
        self.output = output
    }

    /// Starts a program.
    /// - Throws: the system's error if that is not possible.
    public static func start(_ program: Program) async throws(SystemError) -> ChildProcess {
        let result: Result<ChildProcess, SystemError> = await withCheckedContinuation { continuation in
            do throws(SystemError) {
                // A thread for each, since the signal of the parent's death is sent when the thread that started the child ends.
                try Thread.start(name: "pawl child") { run(program) { continuation.resume(returning: $0) } }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }

    /// Sends it a signal, unless it has ended.
    public func signal(_ signal: Signal) {
        // Under the lock, so that the number is not another process's by then.
        hasEnded.withLock { if !$0 { _ = kill(identifier, signal.number) } }
    }

    /// Runs it from its start to its end.
    private static func run(_ program: Program, started: (Result<ChildProcess, SystemError>) -> Void) {
        let (stream, continuation) = AsyncStream.makeStream(of: Output.self, bufferingPolicy: .bufferingNewest(mostLines))
        let child: ChildProcess
        let output: FileDescriptor
        do throws(SystemError) {
            let (identifier, descriptor) = try spawn(program)
            (child, output) = (ChildProcess(identifier, stream), FileDescriptor(owning: descriptor))
        } catch {
            return started(.failure(error))
        }
        started(.success(child))
        readLines(of: output.number) { continuation.yield(.line($0)) }
        continuation.yield(.ended(child.reap()))
        continuation.finish()
    }

    /// Starts the program; returns its number, and the end of the pipe that it writes to.
    private static func spawn(_ program: Program) throws(SystemError) -> (identifier: Int32, output: Int32) {
        var identifier: pid_t = 0
        var output: Int32 = -1
        let environment = program.environment.map { "\($0.key)=\($0.value)" }
        let error = unsafe program.path.withCString { path in
            unsafe program.directory.withCString { directory in
                unsafe withCStrings([program.path] + program.arguments) { arguments in
                    unsafe withCStrings(environment) { environment in
                        var child = unsafe pawl_child()
                        unsafe (child.path, child.directory) = (path, directory)
                        unsafe (child.arguments, child.environment) = (arguments, environment)
                        if let user = program.user {
                            unsafe (child.changes_user, child.user, child.group) = (1, user.identifier, user.group)
                        }
                        unsafe child.death_signal = program.deathSignal.number
                        return unsafe pawl_spawn(&child, &identifier, &output)
                    }
                }
            }
        }
        guard error == 0 else { throw SystemError(error) }
        return (identifier, output)
    }

    /// Calls `body` with strings as C takes a list of them: pointers, and NULL behind the last.
    private static func withCStrings<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>?) -> Result
    ) -> Result {
        let copies = unsafe strings.map { unsafe strdup($0) } + [nil]
        defer { unsafe copies.forEach { unsafe free($0) } }
        return unsafe copies.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
    }

    /// Reads until all ends of the pipe to write to are closed.
    private static func readLines(of descriptor: Int32, _ body: (String) -> Void) {
        var buffer = [UInt8](repeating: 0, count: 65536)
        var line: [UInt8] = []
        while true {
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            for byte in buffer[..<count] {
                let isEnd = byte == UInt8(ascii: "\n")
                if !isEnd { line.append(byte) }
                guard isEnd || line.count == longestLine else { continue }
                body(String(decoding: line, as: UTF8.self))
                line.removeAll(keepingCapacity: true)
            }
        }
        if !line.isEmpty { body(String(decoding: line, as: UTF8.self)) }
    }

    /// Waits for its end.
    private func reap() -> Ending {
        // Without taking it away yet, so that nobody else gets its number before all know.
        var information = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        var status: Int32 = 0
        hasEnded.withLock { hasEnded in
            hasEnded = true
            while unsafe waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        }
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
    }
}
