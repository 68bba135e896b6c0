import Foundation

/// A connection of a ``ScriptedOrigin``, used by its thread only.
final class OriginConnection {
    let descriptor: Int32
    private(set) var isClosed = false

    private let number: Int
    private let answer: ((Int) -> ScriptedOrigin.Request) -> [ScriptedOrigin.Step]
    private let wake: @Sendable () -> Void
    private var input: [UInt8] = []
    private var steps: [ScriptedOrigin.Step]
    private var output: [UInt8] = []
    private var outputOffset = 0
    /// The remaining bytes of a `.generate`.
    private var generation: (offset: Int, count: Int, make: @Sendable (Int, Int) -> [UInt8])?
    /// The last awaited gate, which wakes the thread once.
    private var awaited: Gate?
    /// The response has ended with FIN, or stalls: only the client's end is awaited.
    private var isLingering = false

    init(
        descriptor: Int32, number: Int, steps: [ScriptedOrigin.Step],
        answer: @escaping ((Int) -> ScriptedOrigin.Request) -> [ScriptedOrigin.Step],
        wake: @escaping @Sendable () -> Void
    ) {
        self.descriptor = descriptor
        self.number = number
        self.steps = steps
        self.answer = answer
        self.wake = wake
    }

    var awaitedEvents: Int16 {
        outputOffset < output.count || generation != nil ? Int16(POLLIN | POLLOUT) : Int16(POLLIN)
    }

    /// Does everything that needs no wait.
    func advance() {
        receive()
        while !isClosed, send(), nextStep() {}
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        Foundation.close(descriptor)
        if isLingering { for case .open(let gate) in steps { gate.open() } }
    }

    private func receive() {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while !isClosed {
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 {
                if !isLingering { input += buffer[..<count] }
            } else if count == 0 || errno != EAGAIN {
                return close()
            } else {
                return
            }
        }
    }

    /// Sends buffered bytes; returns whether all were sent.
    private func send() -> Bool {
        while true {
            if outputOffset == output.count {
                guard let next = generation, next.count > 0 else {
                    generation = nil
                    return true
                }
                let count = min(next.count, 1 << 18)
                output = next.make(next.offset, count)
                outputOffset = 0
                generation = (next.offset + count, next.count - count, next.make)
            }
            let count = unsafe output.withUnsafeBytes { bytes in
                unsafe Foundation.send(
                    descriptor, bytes.baseAddress.map { unsafe $0 + outputOffset }, bytes.count - outputOffset,
                    Int32(MSG_NOSIGNAL))
            }
            if count < 0 {
                if errno != EAGAIN { close() }
                return false
            }
            outputOffset += count
        }
    }

    /// Takes the next step; returns whether there may be another one.
    private func nextStep() -> Bool {
        if isLingering { return false }
        if steps.isEmpty { return nextRequest() }
        switch steps[0] {
        case .send(let bytes):
            output = bytes
            outputOffset = 0
        case .generate(let count, let make):
            generation = (0, count, make)
        case .open(let gate):
            gate.open()
        case .wait(let gate):
            guard gate.isOpen else {
                if awaited !== gate { gate.whenOpen(wake) }
                awaited = gate
                return false
            }
        case .close:
            shutdown(descriptor, Int32(SHUT_WR))
            isLingering = true
        case .reset:
            var abrupt = linger(l_onoff: 1, l_linger: 0)
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &abrupt, socklen_t(MemoryLayout<linger>.size))
            close()
        case .stall:
            isLingering = true
        }
        steps.removeFirst()
        return true
    }

    /// Reads a request from the received bytes and gets its response; returns whether there was one.
    private func nextRequest() -> Bool {
        guard let end = input.firstRange(of: Array("\r\n\r\n".utf8)) else { return false }
        let head = String(decoding: input[..<end.lowerBound].flatMap { Array(String(Unicode.Scalar($0)).utf8) }, as: UTF8.self)
        var fields: [(name: String, value: String)] = []
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            fields.append((String(line[..<colon]), String(value)))
        }
        let length = fields.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) } ?? 0
        guard input.count - end.upperBound >= length else { return false }
        let body = Array(input[end.upperBound..<end.upperBound + length])
        input.removeSubrange(..<(end.upperBound + length))
        let words = (lines.first ?? "").split(separator: " ", omittingEmptySubsequences: false)
        steps = answer { [self] number in
            ScriptedOrigin.Request(
                number: number, connection: self.number, method: words.first.map(String.init) ?? "",
                target: words.count > 1 ? String(words[1]) : "", head: head, body: body, fields: fields)
        }
        return true
    }
}
