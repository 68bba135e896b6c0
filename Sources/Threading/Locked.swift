public import Glibc

/// A value that one thread at a time can use: a POSIX mutex.
///
/// Rather than `Synchronization.Mutex`, whose contended path on Linux is a futex in a library that the thread sanitizer does not
/// see, so that it reports races where there are none.
@safe
public final class Locked<Value: ~Copyable>: @unchecked Sendable {
    /// Not stored properties: each access to one is recorded, in case another overlaps it, which the mutex excludes.
    @unsafe @usableFromInline struct Cell: ~Copyable {
        /// The first member, so that its address is the cell's.
        @usableFromInline var mutex = unsafe pthread_mutex_t()
        @usableFromInline var value: Value

        @usableFromInline init(_ value: consuming sending Value) {
            unsafe self.value = value
        }
    }

    @usableFromInline let cell: UnsafeMutablePointer<Cell>

    /// Takes the value over.
    public init(_ value: consuming sending Value) {
        unsafe cell = .allocate(capacity: 1)
        unsafe cell.initialize(to: Cell(value))
        unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe cell.deinitialize(count: 1)
        unsafe cell.deallocate()
    }

    @usableFromInline var mutex: UnsafeMutablePointer<pthread_mutex_t> {
        unsafe UnsafeMutableRawPointer(cell).assumingMemoryBound(to: pthread_mutex_t.self)
    }

    /// Runs `body` on the value while no other thread can. Not recursive; must not wait for anything slow.
    @inlinable
    public func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return unsafe try body(&cell.pointee.value)
    }
}
