public import Glibc

/// A value that only one thread can access at a time, guarded by a POSIX mutex.
///
/// `Synchronization.Mutex` is not used: when contended, it waits on a futex in a library that the thread sanitizer does
/// not instrument. The sanitizer would then report races that do not exist.
@safe
public final class Locked<Value: ~Copyable>: @unchecked Sendable {
    @unsafe @usableFromInline struct Cell: ~Copyable {
        @usableFromInline var mutex = unsafe pthread_mutex_t()
        @usableFromInline var value: Value

        @inlinable init(_ value: consuming sending Value) {
            unsafe self.value = value
        }
    }

    /// Both are in memory of their own. Stored properties have exclusivity checks on each access, which the mutex makes
    /// superfluous.
    @usableFromInline let cell: UnsafeMutablePointer<Cell>
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline let value: UnsafeMutablePointer<Value>

    /// Takes ownership of the value.
    @inlinable
    public init(_ value: consuming sending Value) {
        unsafe cell = .allocate(capacity: 1)
        unsafe cell.initialize(to: Cell(value))
        unsafe mutex = withUnsafeMutablePointer(to: &cell.pointee.mutex) { unsafe $0 }
        unsafe self.value = withUnsafeMutablePointer(to: &cell.pointee.value) { unsafe $0 }
        unsafe pthread_mutex_init(mutex, nil)
    }

    @inlinable
    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe cell.deinitialize(count: 1)
        unsafe cell.deallocate()
    }

    /// Runs `body` on the value with the mutex locked. It is not recursive, and `body` must not wait for anything slow.
    @inlinable
    public func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return unsafe try body(&value.pointee)
    }

    /// Runs `body` on the value with the mutex locked; returns `nil` without waiting if another thread holds the mutex.
    @inlinable
    public func withLockIfAvailable<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        guard unsafe pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { unsafe pthread_mutex_unlock(mutex) }
        return unsafe try body(&value.pointee)
    }
}
