internal import HTTPCore

/// A WebSocket during service: it parses the input, and queues the output. Used on its loop's thread only.
final class WebSocketSource {
    /// A frame to send.
    struct Frame {
        let bytes: [UInt8]
        /// Whether the frame counts as unsolicited.
        let isEvent: Bool
    }

    /// A task that makes a reply.
    private struct Pending {
        let task: Task<Void, Never>
        /// The size of its message, in bytes.
        let size: Int
    }

    let handler: any WebSocketHandler
    let socket: WebSocket
    var state: WebSocketState
    var parser: WebSocketParser

    /// Pings and pongs, which are sent before the next frame.
    var controls: [UInt8] = []
    /// The frames to send, `frames[next...]`. `offset` bytes of the first one have been written to the socket.
    private var frames: [Frame] = []
    private var next = 0
    var offset = 0
    /// The bytes of the frames to send.
    private(set) var queuedBytes = 0

    private var pending: [UInt64: Pending] = [:]
    private var lastPending: UInt64 = 0
    /// The bytes of messages that tasks handle.
    private(set) var pendingBytes = 0
    /// The bytes of queued replies.
    private var answerBytes = 0
    /// The socket's part of the shared memory of bodies and messages, in bytes.
    var heldBytes: Int { parser.heldBytes + pendingBytes + answerBytes }
    private var isFinished = false

    init(_ handler: any WebSocketHandler, _ socket: WebSocket, now: Moment, limits: borrowing WebSocketLimits) {
        self.handler = handler
        self.socket = socket
        state = WebSocketState(now: now, limits: limits)
        parser = WebSocketParser(messageLimit: limits.message)
    }

    // MARK: - Output

    var isQueueEmpty: Bool { next == frames.count && controls.isEmpty }

    var nextFrame: Frame? { next < frames.count ? frames[next] : nil }

    func enqueue(_ bytes: [UInt8], isEvent: Bool = false) {
        queuedBytes += bytes.count
        if !isEvent { answerBytes += bytes.count }
        frames.append(Frame(bytes: bytes, isEvent: isEvent))
    }

    /// Removes the next frame, which has been written to the socket.
    func dropFrame() {
        let frame = frames[next]
        queuedBytes -= frame.bytes.count
        if frame.isEvent { socket.wrote(frame.bytes.count) } else { answerBytes -= frame.bytes.count }
        next += 1
        offset = 0
        if next == frames.count {
            frames.removeAll(keepingCapacity: frames.capacity <= 64)
            next = 0
        } else if next >= 64, next > frames.count / 2 {
            frames.removeFirst(next)
            next = 0
        }
    }

    // MARK: - Replies

    var pendingCount: Int { pending.count }

    /// Begins a task for a message of the given size in bytes. `finish` is called with the number and the reply of the
    /// task.
    func begin(
        _ work: @escaping @Sendable () async -> OutgoingMessage?, size: Int,
        finish: @escaping @Sendable (UInt64, OutgoingMessage?) -> Void
    ) {
        lastPending += 1
        let number = lastPending
        pendingBytes += size
        pending[number] = Pending(task: Task { finish(number, await work()) }, size: size)
    }

    /// Records that a task has returned; returns false if its reply is no longer needed.
    func end(_ number: UInt64) -> Bool {
        guard let task = pending.removeValue(forKey: number) else { return false }
        pendingBytes -= task.size
        return true
    }

    /// Ends the socket: cancels its tasks, and closes the handler.
    func finish() {
        guard !isFinished else { return }
        isFinished = true
        for task in pending.values { task.task.cancel() }
        pending = [:]
        pendingBytes = 0
        socket.end()
        handler.closed()
    }
}
