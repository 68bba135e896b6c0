internal import CSystem
internal import Glibc
internal import System

/// Waits for the readiness of many descriptors: epoll(7).
///
/// Connections are registered once for all events, edge-triggered, so serving a request needs no further call. The
/// receiver of an event must remember it until a call would block.
@safe struct Poller: ~Copyable {
    /// An event of a descriptor. `token` is the one of its registration.
    struct Event {
        let token: UInt64
        private let flags: UInt32

        init(token: UInt64, flags: UInt32) {
            self.token = token
            self.flags = flags
        }

        var isReadable: Bool { flags & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0 }
        var isWritable: Bool { flags & EPOLLOUT.rawValue != 0 }
        /// Whether the peer has sent a FIN. Bytes before it may still be unread.
        var peerEnded: Bool { flags & EPOLLRDHUP.rawValue != 0 }
        /// Whether the connection was reset, or closed in both directions: no further bytes can be sent.
        var isBroken: Bool { flags & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 }
    }

    /// The epoll descriptor. It is created separately, so that a server whose loops cannot wait does not start.
    final class Instance: Sendable {
        let descriptor: Int32

        init() throws(SystemError) {
            descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
            guard descriptor >= 0 else { throw .last }
        }

        deinit {
            close(descriptor)
        }
    }

    private let instance: Instance
    private var events: [epoll_event]

    private var descriptor: Int32 { instance.descriptor }

    init(_ instance: Instance, capacity: Int = 256) {
        self.instance = instance
        unsafe events = Array(repeating: epoll_event(), count: capacity)
    }

    /// Registers a connection for all events. Each change is reported once.
    func add(connection: Int32, token: UInt64) throws(SystemError) {
        try add(connection, EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue, token)
    }

    /// Registers a listener. Waiting connections are reported again and again, to one of the loops rather than to all.
    func add(listener: Int32, token: UInt64) throws(SystemError) {
        try add(listener, EPOLLIN.rawValue | EPOLLEXCLUSIVE.rawValue, token)
    }

    /// Registers an eventfd. Each write to it is reported.
    func add(wakeup: Int32, token: UInt64) throws(SystemError) {
        try add(wakeup, EPOLLIN.rawValue | EPOLLET.rawValue, token)
    }

    private func add(_ watched: Int32, _ flags: UInt32, _ token: UInt64) throws(SystemError) {
        var event = unsafe epoll_event()
        unsafe event.events = flags
        unsafe event.data.u64 = token
        guard unsafe epoll_ctl(descriptor, EPOLL_CTL_ADD, watched, &event) == 0 else { throw .last }
    }

    /// Removes a registration, as does closing the descriptor.
    func remove(_ watched: Int32) {
        _ = epoll_ctl(descriptor, EPOLL_CTL_DEL, watched, nil)
    }

    /// Waits for at most `timeout`; returns the number of events.
    mutating func wait(for timeout: Duration) -> Int {
        let count = unsafe epoll_wait(descriptor, &events, Int32(events.count), Self.milliseconds(timeout))
        return max(Int(count), 0)
    }

    /// An event of the last wait.
    func event(at index: Int) -> Event {
        let event = unsafe events[index]
        return unsafe Event(token: event.data.u64, flags: event.events)
    }

    /// Rounded up, so that a wait for a deadline does not end repeatedly just before it.
    private static func milliseconds(_ duration: Duration) -> Int32 {
        let whole = Int32(clamping: (duration.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        return min(max(whole, 0), 3_600_000)
    }
}
