internal import Glibc

/// The events that ended a wait for a socket; empty if the time is over.
struct SocketWait: OptionSet {
    let rawValue: Int

    /// Data can be read, or the connection has ended or failed.
    static let readable = SocketWait(rawValue: 1)
    /// Data can be written.
    static let writable = SocketWait(rawValue: 2)
    /// The other descriptor is readable.
    static let woken = SocketWait(rawValue: 4)

    /// Waits with poll(2). Polls at least once, even if the time is over.
    /// - Parameters:
    ///   - interest: The events that end the wait: `readable`, `writable` or both.
    ///   - wake: Another descriptor that ends the wait when it is readable.
    static func wait(
        for socket: Int32, _ interest: SocketWait, wake: Int32? = nil, until deadline: ContinuousClock.Instant
    ) -> SocketWait {
        var events: Int16 = 0
        if interest.contains(.readable) { events |= Int16(POLLIN) }
        if interest.contains(.writable) { events |= Int16(POLLOUT) }
        // poll ignores negative descriptors.
        var pollers = [
            pollfd(fd: socket, events: events, revents: 0), pollfd(fd: wake ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let left = max(deadline - .now, .zero)
            // Rounded up, to avoid repeated polls within the last millisecond.
            let milliseconds = left == .zero ? 0 : Int32(clamping: Int(min(left / .milliseconds(1), 1e9))) + 1
            let count = unsafe poll(&pollers, nfds_t(pollers.count), milliseconds)
            if count == 0 { return [] }
            // A lack of memory or descriptors is treated like a timeout.
            if count < 0 { if errno == EINTR { continue } else { return [] } }
            var result: SocketWait = []
            let got = pollers[0].revents
            if got & ~Int16(POLLOUT) != 0 { result.insert(.readable) }
            if got & Int16(POLLOUT) != 0 { result.insert(.writable) }
            if pollers[1].revents != 0 { result.insert(.woken) }
            return result
        }
    }
}
