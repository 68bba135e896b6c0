internal import CSystem
internal import Glibc

/// A thread of the operating system.
public enum Thread {
    /// The number of processors online, at least 1.
    public static var processorCount: Int { max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1) }

    /// Runs `body` on a new detached thread.
    /// - Parameter name: The name in debuggers and `top -H`; at most 15 bytes.
    /// - Throws: The system's error, if the thread cannot be created.
    public static func start(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        pthread_detach(try create(name, body))
    }

    /// Runs `body` on a new thread that can be joined.
    /// - Parameter name: The name in debuggers and `top -H`; at most 15 bytes.
    /// - Throws: The system's error, if the thread cannot be created.
    public static func startJoinable(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) -> JoinableThread {
        JoinableThread(try create(name, body))
    }

    private static func create(_ name: String, _ run: @escaping @Sendable () -> Void) throws(SystemError) -> pthread_t {
        let box = unsafe Unmanaged.passRetained(Body(name: name, run: run))
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                let body = unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                unsafe pawl_name_thread(String(body.name.prefix(15)))
                body.run()
                return nil
            }, box.toOpaque())
        guard result == 0 else {
            unsafe box.release()
            throw SystemError(result)
        }
        return thread
    }

    /// Lowers the priority of the calling thread below the others'.
    public static func lowerPriority() {
        // With nice 10 the thread gets a tenth of a competitor's time, so that its work still progresses. On other
        // systems than Linux the call would affect the whole process.
        #if os(Linux)
            _ = setpriority(Int32(bitPattern: PRIO_PROCESS.rawValue), 0, 10)
        #endif
    }

    private final class Body: Sendable {
        let name: String
        let run: @Sendable () -> Void

        init(name: String, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }
}

/// A thread whose end can be awaited.
public final class JoinableThread: Sendable {
    /// The thread; `nil` once `join` has been called.
    private let thread: Locked<pthread_t?>

    fileprivate init(_ thread: pthread_t) {
        self.thread = Locked(thread)
    }

    deinit {
        if let thread = take() { pthread_detach(thread) }
    }

    /// Waits for the thread's end. Only the first call waits; later calls, and calls on the thread itself, return
    /// immediately.
    public func join() {
        guard let thread = take() else { return }
        if pthread_equal(thread, pthread_self()) != 0 {
            pthread_detach(thread)
        } else {
            _ = pthread_join(thread, nil)
        }
    }

    private func take() -> pthread_t? {
        thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
    }
}

/// A value that another thread computes.
public struct SideComputation<Value: Sendable>: Sendable {
    private let body: @Sendable () -> Value
    private let result: Locked<Value?>
    /// The thread; `nil` if the system has none left.
    private let thread: JoinableThread?

    /// Starts the computation.
    /// - Parameter name: The thread's name in debuggers and `top -H`; at most 15 bytes.
    public init(name: String, _ body: @escaping @Sendable () -> Value) {
        let result = Locked(Value?.none)
        (self.body, self.result) = (body, result)
        thread = try? Thread.startJoinable(name: name) {
            let value = body()
            result.withLock { $0 = value }
        }
    }

    /// Waits for the value, and returns it. Without a thread, the caller computes it.
    public func value() -> Value {
        thread?.join()
        return result.withLock { $0.take() } ?? body()
    }
}
