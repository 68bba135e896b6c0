internal import CSystem
internal import Glibc

/// A thread of the operating system.
public enum Thread {
    /// How many processors are online, at least 1.
    public static var processorCount: Int { max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1) }

    /// Runs `body` on a new thread that nobody waits for: it reports its end by what its body does last.
    /// - Parameter name: what debuggers and `top -H` show; 15 bytes at most.
    /// - Throws: the system's error, if there cannot be another thread.
    public static func start(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        pthread_detach(try create(name, body))
    }

    /// Runs `body` on a new thread whose end can be waited for.
    /// - Parameter name: what debuggers and `top -H` show; 15 bytes at most.
    /// - Throws: the system's error, if there cannot be another thread.
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

    /// From now on other threads are served before the calling one where there are not processors enough.
    public static func giveWay() {
        // A tenth of the time of one that competes, so that nothing is put off for ever. Elsewhere than on Linux this would be
        // about the whole process.
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

/// A thread whose end can be waited for.
public final class JoinableThread: Sendable {
    /// `nil` once somebody has waited, or waits.
    private let thread: Locked<pthread_t?>

    fileprivate init(_ thread: pthread_t) {
        self.thread = Locked(thread)
    }

    deinit {
        if let thread = take() { pthread_detach(thread) }
    }

    /// Waits for the thread's end. The first caller does; others, and the thread itself, go on at once.
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
