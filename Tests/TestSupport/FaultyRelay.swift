import Foundation

/// A relay on loopback between clients and a port, which can discard bytes or cut connections.
///
/// Each direction of a connection has its own blocking thread. Everything ends when the value is freed.
public final class FaultyRelay: Sendable {
    /// The treatment of bytes.
    public enum Mode: Sendable {
        /// Passes the bytes on.
        case relay
        /// Reads and discards the bytes; connections stay open, and new ones are accepted.
        case swallow
        /// Cuts the connection at the first bytes of a client.
        case refuse
        /// Passes the client's bytes on, and cuts the connection at the first bytes of the response.
        case cutAnswers
        /// Does not read the bytes, so that the sender has to wait at some time.
        case stall
        /// Passes this number of bytes of each connection's responses on, and discards the others.
        case answers(Int)
    }

    /// The port on 127.0.0.1.
    public let port: Int
    private let listener: Int32
    private let state: State

    private final class State: @unchecked Sendable {
        private let condition = NSCondition()
        private var mode: Mode
        private var open: Set<Int32> = []
        private var isOver = false

        init(_ mode: Mode) { self.mode = mode }

        func change(_ body: (_ mode: inout Mode, _ open: inout Set<Int32>, _ isOver: inout Bool) -> Void) {
            condition.lock()
            body(&mode, &open, &isOver)
            condition.broadcast()
            condition.unlock()
        }

        /// The treatment of received bytes; waits while they must not be read.
        func next() -> Mode {
            condition.lock()
            defer { condition.unlock() }
            while case .stall = mode, !isOver { condition.wait() }
            return mode
        }

        /// Registers sockets for the shutdown; false if it has happened.
        func add(_ sockets: [Int32]) -> Bool {
            condition.lock()
            defer { condition.unlock() }
            if !isOver { open.formUnion(sockets) }
            return !isOver
        }
    }

    /// Listens, and relays to a port of 127.0.0.1.
    /// - Throws: `POSIXError` if the socket fails.
    public init(to target: Int, mode: Mode = .relay) throws {
        state = State(mode)
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = RelayProxy.loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (listener, state) = (listener, state)
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(listener, address, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard isListening else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread {
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { break }
                Thread.detachNewThread { Self.serve(client, target, state) }
            }
            close(listener)
        }
    }

    deinit {
        // Ends the waits; the waiting threads close their descriptors.
        _ = shutdown(listener, Int32(SHUT_RDWR))
        cut(forEver: true)
    }

    /// Changes the treatment of bytes that arrive from now on.
    public func set(_ mode: Mode) {
        state.change { current, _, _ in current = mode }
    }

    /// Ends all open connections.
    public func cut() {
        cut(forEver: false)
    }

    private func cut(forEver: Bool) {
        state.change { _, open, isOver in
            if forEver { isOver = true }
            for socket in open { _ = shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    private static func serve(_ client: Int32, _ port: Int, _ state: State) {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = RelayProxy.loopback(port: port)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe connect(server, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        let isOpen = state.add([client, server])
        if result == 0, isOpen {
            let answers = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                copy(from: server, to: client, isAnswer: true, state)
                answers.signal()
            }
            copy(from: client, to: server, isAnswer: false, state)
            answers.wait()
        }
        // From here on, other sockets may have these descriptors.
        state.change { _, open, _ in
            open.subtract([client, server])
            close(client)
            close(server)
        }
    }

    private static func copy(from source: Int32, to target: Int32, isAnswer: Bool, _ state: State) {
        var buffer = [UInt8](repeating: 0, count: 65536)
        var passed = 0
        copying: while true {
            _ = state.next()
            let count = unsafe recv(source, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            var allowed = count
            // The treatment may have changed during the wait for bytes.
            switch state.next() {
            case .swallow: continue
            case .cutAnswers where isAnswer: break copying
            case .refuse: break copying
            case .answers(let limit) where isAnswer:
                allowed = min(count, max(limit - passed, 0))
            case .relay, .cutAnswers, .answers, .stall: break
            }
            passed += allowed
            var rest = buffer[..<allowed]
            while !rest.isEmpty {
                let sent = unsafe rest.withUnsafeBytes {
                    unsafe send(target, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard sent > 0 else { break copying }
                rest = rest.dropFirst(sent)
            }
        }
        _ = shutdown(target, Int32(SHUT_RDWR))
        _ = shutdown(source, Int32(SHUT_RDWR))
    }
}
