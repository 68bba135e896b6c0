internal import Glibc

/// What a wait for a socket ended with; nothing if the time was over.
struct SocketWait: OptionSet {
    let rawValue: Int

    /// There is something to read, or the connection's end or error to be found by reading.
    static let readable = SocketWait(rawValue: 1)
    /// There is room to write.
    static let writable = SocketWait(rawValue: 2)
    /// The other descriptor has something to read.
    static let woken = SocketWait(rawValue: 4)

    /// Waits with poll(2), and looks at least once, also when the time is over already.
    /// - Parameters:
    ///   - interest: what of `readable` and `writable` ends the wait.
    ///   - wake: another descriptor that ends it when it is readable.
    static func wait(
        for socket: Int32, _ interest: SocketWait, wake: Int32? = nil, until deadline: ContinuousClock.Instant
    ) -> SocketWait {
        var events: Int16 = 0
        if interest.contains(.readable) { events |= Int16(POLLIN) }
        if interest.contains(.writable) { events |= Int16(POLLOUT) }
        // poll passes over negative descriptors.
        var pollers = [
            pollfd(fd: socket, events: events, revents: 0), pollfd(fd: wake ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let left = max(deadline - .now, .zero)
            // Rounded up, so that it does not look again and again within the last millisecond.
            let milliseconds = left == .zero ? 0 : Int32(clamping: Int(min(left / .milliseconds(1), 1e9))) + 1
            let count = unsafe poll(&pollers, nfds_t(pollers.count), milliseconds)
            if count == 0 { return [] }
            // Short of memory or descriptors is as bad as no answer.
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
