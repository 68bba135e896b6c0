import Foundation
import Synchronization

/// The sockets of a ``ScriptedOrigin`` and the thread that serves them.
final class OriginReactor: Sendable {
    let port: Int
    let requests = Waiter<[ScriptedOrigin.Request]>([])
    let connectionCount = Waiter(0)
    let openConnections = Waiter(0)

    private let answer: @Sendable (ScriptedOrigin.Request) -> [ScriptedOrigin.Step]
    private let greeting: @Sendable (Int) -> [ScriptedOrigin.Step]
    private let listener: Int32
    /// A pipe that ends the wait for sockets.
    private let alarm: (read: Int32, write: Int32)
    private let isStopped = Atomic(false)

    init(
        greeting: @escaping @Sendable (Int) -> [ScriptedOrigin.Step],
        answer: @escaping @Sendable (ScriptedOrigin.Request) -> [ScriptedOrigin.Step]
    ) throws {
        self.greeting = greeting
        self.answer = answer
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(listener, address, length) == 0 && listen(listener, 4096) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        self.listener = listener
        guard result else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        port = Int(UInt16(bigEndian: address.sin_port))
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        alarm = (ends[0], ends[1])
        for descriptor in [listener, ends[0], ends[1]] { Self.prepare(descriptor) }
    }

    deinit {
        close(alarm.read)
        close(alarm.write)
    }

    func stop() {
        if !isStopped.exchange(true, ordering: .relaxed) { wake() }
    }

    private func wake() {
        var one: UInt8 = 1
        unsafe _ = write(alarm.write, &one, 1)
    }

    func run() {
        var connections: [OriginConnection] = []
        while !isStopped.load(ordering: .relaxed) {
            waitForEvents(connections)
            while let connection = acceptOne() { connections.append(connection) }
            for connection in connections { connection.advance() }
            connections.removeAll { connection in
                if connection.isClosed { openConnections.update { $0 -= 1 } }
                return connection.isClosed
            }
        }
        for connection in connections { connection.close() }
        openConnections.update { $0 = 0 }
        close(listener)
    }

    /// Makes a descriptor non-blocking, and closes it in child processes.
    private static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    private func waitForEvents(_ connections: [OriginConnection]) {
        var entries = [
            pollfd(fd: alarm.read, events: Int16(POLLIN), revents: 0), pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
        ]
        for connection in connections {
            entries.append(pollfd(fd: connection.descriptor, events: connection.awaitedEvents, revents: 0))
        }
        unsafe _ = poll(&entries, nfds_t(entries.count), -1)
        if entries[0].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 256)
            unsafe _ = read(alarm.read, &bytes, bytes.count)
        }
    }

    private func acceptOne() -> OriginConnection? {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { return nil }
        Self.prepare(descriptor)
        // The script decides when small pieces are sent, not the kernel.
        var on: Int32 = 1
        unsafe _ = setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        let number = connectionCount.update { count in
            defer { count += 1 }
            return count
        }
        openConnections.update { $0 += 1 }
        return OriginConnection(
            descriptor: descriptor, number: number, steps: greeting(number),
            answer: { [self] parsed in
                let request = requests.update { requests in
                    let request = parsed(requests.count)
                    requests.append(request)
                    return request
                }
                return answer(request)
            },
            wake: { [weak self] in self?.wake() })
    }
}
