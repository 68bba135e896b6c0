internal import HTTPCore

/// A WebSocket that is being served: what comes is parsed, and what goes is queued. Used on its loop's thread only.
final class WebSocketSource {
    /// A frame that is to be sent.
    struct Frame {
        let bytes: [UInt8]
        /// It counts among what the client hasn't asked for.
        let isEvent: Bool
    }

    /// The task that makes an answer.
    private struct Pending {
        let task: Task<Void, Never>
        /// What its message takes, in bytes.
        let size: Int
    }

    let handler: any WebSocketHandler
    let socket: WebSocket
    var state: WebSocketState
    var parser: WebSocketParser

    /// Pings and pongs, which go before everything else at the next frame's begin.
    var controls: [UInt8] = []
    /// Frames that are to be sent: `frames[next...]`, of the first of which `offset` bytes are the socket's already.
    private var frames: [Frame] = []
    private var next = 0
    var offset = 0
    /// Bytes of those frames.
    private(set) var queuedBytes = 0

    private var pending: [UInt64: Pending] = [:]
    private var lastPending: UInt64 = 0
    /// What messages take that are being answered, in bytes.
    private(set) var pendingBytes = 0
    /// What answers take that are queued, in bytes.
    private var answerBytes = 0
    /// What it takes of the storage that all bodies and messages share, in bytes.
    var heldBytes: Int { parser.heldBytes + pendingBytes + answerBytes }
    private var isFinished = false

    init(_ handler: any WebSocketHandler, _ socket: WebSocket, now: Moment, limits: borrowing WebSocketLimits) {
        self.handler = handler
        self.socket = socket
        state = WebSocketState(now: now, limits: limits)
        parser = WebSocketParser(messageLimit: limits.message)
    }

    // MARK: - What is sent

    var isQueueEmpty: Bool { next == frames.count && controls.isEmpty }

    var nextFrame: Frame? { next < frames.count ? frames[next] : nil }

    func enqueue(_ bytes: [UInt8], isEvent: Bool = false) {
        queuedBytes += bytes.count
        if !isEvent { answerBytes += bytes.count }
        frames.append(Frame(bytes: bytes, isEvent: isEvent))
    }

    /// The next frame is the socket's.
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

    // MARK: - What is being answered

    var pendingCount: Int { pending.count }

    /// Begins a task for a message of so many bytes; `finish` is called with the number of that task, and what it answers.
    func begin(
        _ work: @escaping @Sendable () async -> OutgoingMessage?, size: Int,
        finish: @escaping @Sendable (UInt64, OutgoingMessage?) -> Void
    ) {
        lastPending += 1
        let number = lastPending
        pendingBytes += size
        pending[number] = Pending(task: Task { finish(number, await work()) }, size: size)
    }

    /// A task has returned; false if nobody waits for it any more.
    func end(_ number: UInt64) -> Bool {
        guard let task = pending.removeValue(forKey: number) else { return false }
        pendingBytes -= task.size
        return true
    }

    /// It is over: the handler hears nothing more, and what it is working on is for nobody.
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
