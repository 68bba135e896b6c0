internal import Glibc

/// A value guarded by a mutex, with a condition that threads wait for.
@safe
public final class Monitor<State>: @unchecked Sendable {
    private var state: State
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    /// Takes ownership of the state.
    public init(_ state: sending State) {
        self.state = state
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        // The monotonic clock: a change of the wall clock must not affect waits.
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

    /// Changes the state, and wakes one waiting thread if `body` returns true for `wake`.
    public func withLock<Result>(_ body: (inout State) -> (Result, wake: Bool)) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        let (result, wake) = body(&state)
        if wake { unsafe pthread_cond_signal(condition) }
        return result
    }

    /// Runs `body` until it returns a result: at once, after each wake, and after each time limit that it returns.
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

/// The next step of a waiting thread.
public enum WaitStep<Result> {
    /// The wait has ended with a result.
    case done(Result)
    /// The thread sleeps until it is woken or the time, if given, has passed.
    case wait(Duration?)
}
