internal import System

/// A program that is kept running: some seconds after it has ended, it is started again.
actor KeptProgram {
    /// What happens to it.
    enum Event: Sendable, Equatable {
        /// It runs, and what the system knows it by.
        case started(Int32)
        /// It has written a line.
        case line(String)
        /// It is gone, or cannot be started: the end of a sentence that begins with its name.
        case ended(String)
    }

    /// For how long it is away after its end: long enough to be seen.
    static let pause: Duration = .seconds(5)

    private let program: ChildProcess.Program
    private let pause: Duration
    private let handle: @Sendable (Event) async -> Void
    private var child: ChildProcess?
    private var keeping: Task<Void, Never>?
    private var pausing: Task<Void, any Error>?
    private var isStopping = false

    /// A program to be started.
    /// - Parameters:
    ///   - pause: for how long it is away.
    ///   - handle: called with all that happens to it, in order.
    init(_ program: ChildProcess.Program, pause: Duration = KeptProgram.pause, handle: @escaping @Sendable (Event) async -> Void)
    {
        self.program = program
        self.pause = pause
        self.handle = handle
    }

    /// Starts it.
    func start() {
        keeping = Task { await keep() }
    }

    /// Ends it for good, and returns when it is gone.
    /// - Parameter limit: how long it may take over that before it is killed.
    func stop(_ signal: ChildProcess.Signal, within limit: Duration) async {
        isStopping = true
        pausing?.cancel()
        child?.signal(signal)
        let killing = Task {
            try await Task.sleep(for: limit)
            child?.signal(.kill)
        }
        await keeping?.value
        killing.cancel()
    }

    private func keep() async {
        while !isStopping {
            do throws(SystemError) {
                let child = try await ChildProcess.start(program)
                self.child = child
                // It was to end before it was there.
                if isStopping { child.signal(.kill) }
                await follow(child)
                self.child = nil
            } catch {
                await handle(.ended("cannot be started: \(error)"))
            }
            guard !isStopping else { return }
            let pausing = Task { try await Task.sleep(for: pause) }
            self.pausing = pausing
            _ = await pausing.result
        }
    }

    private func follow(_ child: ChildProcess) async {
        await handle(.started(child.identifier))
        for await output in child.output {
            switch output {
            case .line(let line): await handle(.line(line))
            case .ended(let ending): await handle(.ended(ending.description))
            }
        }
    }
}
