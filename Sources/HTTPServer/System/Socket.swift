internal import CSystem
internal import Glibc
internal import System

/// A connected, non-blocking socket, which is closed with the value.
struct Socket: ~Copyable {
    let descriptor: Int32

    /// The result of a read or a write.
    enum Outcome: Equatable {
        /// The number of bytes, at least 1.
        case moved(Int)
        /// The socket is not ready; the poller will report its readiness.
        case wouldBlock
        /// The peer has sent a FIN, and all bytes before it have been read. When sending a file: the file has no more
        /// bytes.
        case ended
        /// The connection is broken.
        case failed(SystemError)
    }

    /// Takes ownership of a descriptor.
    init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Returns the descriptor without closing it; the caller owns it.
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

    /// Writes `buffer[range]`. `more`: further bytes follow immediately, so that both may share a segment.
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

    /// Writes `buffer[range]` and then a body, in one system call. SIGPIPE must be ignored: writev(2) has no flag for it.
    func send(_ buffer: borrowing [UInt8], _ range: Range<Int>, then body: borrowing [UInt8]) -> Outcome {
        unsafe buffer.withUnsafeBytes { bytes in
            unsafe body.withUnsafeBytes { body in
                guard range.upperBound <= bytes.count, body.count > 0 else { return .wouldBlock }
                return unsafe write(UnsafeRawBufferPointer(rebasing: bytes[range]), body)
            }
        }
    }

    private func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Outcome {
        unsafe withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2) { parts in
            unsafe parts.initializeElement(at: 0, to: Self.vector(first))
            unsafe parts.initializeElement(at: 1, to: Self.vector(second))
            while true {
                let count = unsafe writev(descriptor, parts.baseAddress, 2)
                if count >= 0 { return .moved(count) }
                if let outcome = Self.outcome(of: errno) { return outcome }
            }
        }
    }

    private static func vector(_ bytes: UnsafeRawBufferPointer) -> iovec {
        unsafe iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
    }

    /// Sends bytes of a file without copying them into the process. SIGPIPE must be ignored: sendfile(2) has no flag
    /// for it.
    func send(_ file: borrowing FileHandle, offset: Int64, count: Int) -> Outcome {
        while true {
            var position = off_t(offset)
            let sent = unsafe sendfile(descriptor, file.descriptor, &position, count)
            if sent > 0 { return .moved(sent) }
            if sent == 0 { return .ended }
            if let outcome = Self.outcome(of: errno) { return outcome }
        }
    }

    /// The number of bytes that were written but not acknowledged by the client; nil if the kernel does not report it.
    var unacknowledged: Int? {
        var count: Int32 = 0
        return unsafe pawl_unacknowledged(descriptor, &count) == 0 ? Int(count) : nil
    }

    /// Whether the client has not acknowledged all written bytes.
    var hasUnacknowledged: Bool { unacknowledged.map { $0 > 0 } ?? false }

    /// Limits the time for which the kernel keeps unacknowledged bytes, also after the close (tcp(7), TCP_USER_TIMEOUT).
    func limitUnacknowledged(to limit: Duration) {
        var milliseconds = Int32(clamping: Int64(limit / .milliseconds(1)))
        _ = unsafe setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Limits the bytes that the kernel buffers beyond those in transit; nil: no limit.
    func limitUnsent(to limit: Int?) {
        Self.limitUnsent(of: descriptor, to: limit)
    }

    /// Limits the unsent bytes of a connection, or of all connections that a listener will accept.
    static func limitUnsent(of descriptor: Int32, to limit: Int?) {
        // 0 restores the system's own limit, which is unlimited by default.
        var limit = limit.map { Int32(clamping: max($0, 1)) } ?? 0
        _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, &limit, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Sends a FIN: nothing more is written.
    func endOutput() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Makes the coming close send an RST, which discards the kernel's buffer.
    func resetOnClose() {
        var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    }

    /// The outcome of an error number; nil for an interrupted call, which must be repeated.
    private static func outcome(of number: Int32) -> Outcome? {
        switch number {
        case EINTR: nil
        case EAGAIN: .wouldBlock
        default: .failed(SystemError(number))
        }
    }
}

/// Makes a write to a closed connection fail rather than end the process.
func ignoreBrokenPipes() {
    _ = signal(SIGPIPE, SIG_IGN)
}
