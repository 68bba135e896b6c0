internal import CSystem
internal import Glibc

/// A child process that does not outlive this process, however this process ends.
///
/// It has a process group of its own, so that Ctrl-C at a terminal does not reach it.
public final class ChildProcess: Sendable {
    /// An executable with its arguments, environment, directory and user.
    public struct Program: Sendable {
        /// The path of the executable.
        public var path: String
        /// The arguments, without the program's name.
        public var arguments: [String]
        /// All environment variables of the program.
        public var environment: [String: String]
        /// The working directory.
        public var directory: String
        /// The user that the program runs as; only root can choose one. `nil`: this process's user.
        public var user: UserAccount?
        /// The signal that the program receives when this process has ended.
        public var deathSignal = Signal.kill

        /// Creates a program that runs as this process's user.
        public init(_ path: String, _ arguments: [String], environment: [String: String], directory: String) {
            self.path = path
            self.arguments = arguments
            self.environment = environment
            self.directory = directory
        }
    }

    /// A signal that ends a program.
    public enum Signal: Sendable {
        /// SIGTERM: ends in the program's own way.
        case terminate
        /// SIGINT.
        case interrupt
        /// SIGQUIT.
        case quit
        /// SIGKILL: ends immediately.
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

    /// The way in which a program ended.
    public enum Ending: Sendable, Equatable, CustomStringConvertible {
        /// The program exited with a status of 0…255.
        case exited(Int32)
        /// A signal ended the program.
        case signalled(Int32)

        /// The ending as a predicate, such as "ended with status 1".
        public var description: String {
            switch self {
            case .exited(let status): "ended with status \(status)"
            case .signalled(let number): "was ended by signal \(number)"
            }
        }
    }

    /// A line of output, or the end of a program.
    public enum Output: Sendable, Equatable {
        /// A line of standard output or standard error, without the line feed. A line longer than 8 KiB comes in
        /// pieces.
        case line(String)
        /// The program has ended, and all ends of its output are closed, including those of its own children. Nothing
        /// follows.
        case ended(Ending)
    }

    /// The maximum bytes of a line, and the maximum number of lines that wait for a reader. Further lines displace the
    /// oldest.
    private static let longestLine = 8192
    private static let mostLines = 1000

    /// The process id.
    public let identifier: Int32
    /// All output and the end of the program, for one reader.
    public let output: AsyncStream<Output>
    private let hasEnded = Locked(false)

    private init(_ identifier: Int32, _ output: AsyncStream<Output>) {
        self.identifier = identifier
        self.output = output
    }

    /// Starts a program.
    /// - Throws: The system's error if the program cannot be started.
    public static func start(_ program: Program) async throws(SystemError) -> ChildProcess {
        let result: Result<ChildProcess, SystemError> = await withCheckedContinuation { continuation in
            do throws(SystemError) {
                // Each child needs a thread: the kernel sends the death signal when the thread that started the child
                // ends.
                try Thread.start(name: "pawl child") { run(program) { continuation.resume(returning: $0) } }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }

    /// Sends a signal, unless the program has ended.
    public func signal(_ signal: Signal) {
        // The lock keeps the process id from being reused between the check and the signal.
        hasEnded.withLock { if !$0 { _ = kill(identifier, signal.number) } }
    }

    /// Runs the program from its start to its end.
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

    /// Starts the program; returns its process id, and the read end of the pipe for its output.
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

    /// Calls `body` with a C array of strings, which ends with NULL.
    private static func withCStrings<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>?) -> Result
    ) -> Result {
        let copies = unsafe strings.map { unsafe strdup($0) } + [nil]
        defer { unsafe copies.forEach { unsafe free($0) } }
        return unsafe copies.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
    }

    /// Reads lines until all write ends of the pipe are closed.
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

    /// Waits for the program's end.
    private func reap() -> Ending {
        // WNOWAIT leaves the process unreaped, so that its id is not reused before `hasEnded` is set.
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
