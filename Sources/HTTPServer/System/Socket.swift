internal import CSystem
internal import Glibc
internal import System

/// A connected, non-blocking TCP socket; closed when it goes away.
struct Socket: ~Copyable {
    let descriptor: Int32

    /// What a read or a write came to.
    enum Outcome: Equatable {
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
    func receive(into buffer: inout [UInt8], at offset: Int) -> Outcome {
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
    func send(_ buffer: borrowing [UInt8], _ range: Range<Int>, more: Bool) -> Outcome {
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
    func endOutput() {
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
