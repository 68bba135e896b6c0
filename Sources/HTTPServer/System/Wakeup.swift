internal import CSystem
internal import Glibc
internal import System

/// Wakes an event loop from other threads: eventfd(2).
final class Wakeup: Sendable {
    let descriptor: Int32

    init() throws(SystemError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard descriptor >= 0 else { throw .last }
    }

    deinit {
        close(descriptor)
    }

    /// Ends the current wait, or the next one.
    func signal() {
        var one: UInt64 = 1
        _ = unsafe write(descriptor, &one, MemoryLayout<UInt64>.size)
    }
}
