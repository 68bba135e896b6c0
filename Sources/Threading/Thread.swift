internal import CSystem
internal import Glibc

/// A thread of the operating system, detached: it reports its end by what its body does last.
public enum Thread {
    /// How many processors are online, at least 1.
    public static var processorCount: Int { max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1) }

    /// Runs `body` on a new thread. The name (15 bytes at most) is what debuggers and `top -H` show.
    /// - Throws: the number of the system's error, if there cannot be another thread.
    public static func start(name: String, _ body: @escaping @Sendable () -> Void) throws(ThreadError) {
        let box = unsafe Unmanaged.passRetained(Body(name: name, run: body))
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
            throw ThreadError(number: result)
        }
        pthread_detach(thread)
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

/// No thread could be started.
public struct ThreadError: Error, Sendable, Equatable {
    /// The system's error number.
    public let number: Int32
}
