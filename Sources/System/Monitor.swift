internal import Glibc

/// A value guarded by a lock, together with a condition that threads wait on.
@safe
public final class Monitor<State>: @unchecked Sendable {
    private var state: State
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    /// Takes the state over.
    public init(_ state: sending State) {
        self.state = state
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        // Waiting must not depend on somebody setting the wall clock.
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Changes the state, and wakes a waiting thread if the body says so.
    public func withLock<Result>(_ body: (inout State) -> (Result, wake: Bool)) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        let (result, wake) = body(&state)
        if wake { unsafe pthread_cond_signal(condition) }
        return result
    }

    /// Asks the body again after each wake, or after the time it names, until it gives a result.
    public func wait<Result>(_ body: (inout State) -> WaitStep<Result>) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            switch body(&state) {
            case .done(let result):
                return result
            case .wait(nil):
                unsafe pthread_cond_wait(condition, mutex)
            case .wait(let time?):
                var deadline = timespec()
                unsafe clock_gettime(CLOCK_MONOTONIC, &deadline)
                let parts = time.components
                let nanoseconds = deadline.tv_nsec + Int(parts.attoseconds / 1_000_000_000)
                deadline.tv_sec += Int(parts.seconds) + nanoseconds / 1_000_000_000
                deadline.tv_nsec = nanoseconds % 1_000_000_000
                unsafe pthread_cond_timedwait(condition, mutex, &deadline)
            }
        }
    }
}

/// What a waiting thread does next.
public enum WaitStep<Result> {
    /// It has what it waited for.
    case done(Result)
    /// It sleeps until it is woken or, if given, so much time has passed.
    case wait(Duration?)
}
