public import Glibc

/// A value that one thread at a time can use: a POSIX mutex.
///
/// Rather than `Synchronization.Mutex`, whose contended path on Linux is a futex in a library that the thread sanitizer does not
/// see, so that it reports races where there are none.
@safe
public final class Locked<Value: ~Copyable>: @unchecked Sendable {
    @unsafe @usableFromInline struct Cell: ~Copyable {
        @usableFromInline var mutex = unsafe pthread_mutex_t()
        @usableFromInline var value: Value

        @inlinable init(_ value: consuming sending Value) {
            unsafe self.value = value
        }
    }

    /// Both in memory of their own: each access to a stored property is recorded, in case another overlaps it, which the mutex excludes.
    @usableFromInline let cell: UnsafeMutablePointer<Cell>
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline let value: UnsafeMutablePointer<Value>

    /// Takes the value over.
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

    /// Runs `body` on the value while no other thread can. Not recursive; must not wait for anything slow.
    @inlinable
    public func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return unsafe try body(&value.pointee)
    }

    /// The same if no other thread does just now; otherwise `nil`, without waiting.
    @inlinable
    public func withLockIfAvailable<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        guard unsafe pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { unsafe pthread_mutex_unlock(mutex) }
        return unsafe try body(&value.pointee)
    }
}
