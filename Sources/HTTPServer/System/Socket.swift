internal import CSystem
internal import Glibc
package import System

/// A connected, non-blocking TCP socket; closed when it goes away.
package struct Socket: ~Copyable {
    package let descriptor: Int32

    /// What a read or a write came to.
    package enum Outcome: Equatable {
        /// So many bytes, at least one.
        case moved(Int)
        /// The socket isn't ready: its readiness will be reported.
        case wouldBlock
        /// The peer has sent a FIN and everything before it has been read. Of a file that is sent: it has no more bytes.
        case ended
        /// The connection is broken.
        case failed(SystemError)
    }

    /// Takes over a descriptor.
    init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Connects to a port of 127.0.0.1; nil if that is refused, or takes longer than a tenth of a second.
    package static func connected(toPort port: Int) -> Socket? {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_INET, type, 0)
        guard descriptor >= 0 else { return nil }
        let socket = Socket(owning: descriptor)
        var on: Int32 = 1
        _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result == 0 { return socket }
        // An answer of this machine is a matter of microseconds, unless it is very busy.
        var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard errno == EINPROGRESS, unsafe poll(&poller, 1, 100) == 1 else { return nil }
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0, error == 0 else { return nil }
        return socket
    }

    /// Gives the descriptor away.
    consuming func release() -> Int32 {
        let descriptor = self.descriptor
        discard self
        return descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Reads into `buffer[offset...]`.
    package func receive(into buffer: inout [UInt8], at offset: Int) -> Outcome {
        unsafe buffer.withUnsafeMutableBytes { bytes in
            guard offset < bytes.count, let base = bytes.baseAddress else { return .wouldBlock }
            while true {
                let count = unsafe recv(descriptor, base + offset, bytes.count - offset, 0)
                if count > 0 { return .moved(count) }
                if count == 0 { return .ended }
                if let outcome = Self.outcome(of: errno) { return outcome }
            }
        }
    }

    /// Writes `buffer[range]`. `more` says that what follows comes at once, so that both may share a segment.
    package func send(_ buffer: borrowing [UInt8], _ range: Range<Int>, more: Bool) -> Outcome {
        unsafe buffer.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, !range.isEmpty, range.upperBound <= bytes.count else { return .wouldBlock }
            let flags = Int32(MSG_NOSIGNAL) | (more ? Int32(MSG_MORE) : 0)
            while true {
                let count = unsafe Glibc.send(descriptor, base + range.lowerBound, range.count, flags)
                if count >= 0 { return .moved(count) }
                if let outcome = Self.outcome(of: errno) { return outcome }
            }
        }
    }

    /// Sends bytes of a file without copying them into the process. SIGPIPE must be ignored: sendfile(2) has no flag for it.
    func send(_ file: borrowing FileHandle, offset: Int64, count: Int) -> Outcome {
        while true {
            var position = off_t(offset)
            let sent = unsafe sendfile(descriptor, file.descriptor, &position, count)
            if sent > 0 { return .moved(sent) }
            if sent == 0 { return .ended }
            if let outcome = Self.outcome(of: errno) { return outcome }
        }
    }

    /// How many bytes the kernel holds for the client: written, and not acknowledged yet. Nil if it doesn't say.
    var unacknowledged: Int? {
        var count: Int32 = 0
        return unsafe pawl_unacknowledged(descriptor, &count) == 0 ? Int(count) : nil
    }

    /// Bounds what the kernel takes for the client beyond what is on its way to it, in bytes; nil: it takes what it sees fit.
    func limitUnsent(to limit: Int?) {
        Self.limitUnsent(of: descriptor, to: limit)
    }

    /// The same, of a connection or of all that a listener will accept.
    static func limitUnsent(of descriptor: Int32, to limit: Int?) {
        // 0 is the system's own limit, which is none unless somebody has set it.
        var limit = limit.map { Int32(clamping: max($0, 1)) } ?? 0
        _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, &limit, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Sends a FIN: nothing more is written.
    package func endOutput() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Lets the coming close be an RST, which drops what the kernel still holds.
    func resetOnClose() {
        var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    }

    /// What an error number means; nil for an interrupted call, to be repeated.
    private static func outcome(of number: Int32) -> Outcome? {
        switch number {
        case EINTR: nil
        case EAGAIN: .wouldBlock
        default: .failed(SystemError(number))
        }
    }
}

/// Lets writing to a connection that is gone fail rather than end the process.
func ignoreBrokenPipes() {
    _ = signal(SIGPIPE, SIG_IGN)
}
