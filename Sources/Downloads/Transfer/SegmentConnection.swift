internal import HTTPClient
internal import HTTPCore
internal import Synchronization
internal import System

/// One connection of an attempt: hands what comes to it, and can be stopped at any time.
final class SegmentConnection: TransferSink {
    /// Its number in the attempt's plan.
    let number: Int
    /// What was asked for; nil for the first connection, whose response tells what there is.
    let range: Range<Int64>?
    /// Which of the attempt's sources it is to.
    let source: Int
    private let attempt: TransferAttempt
    /// Bytes that it has brought and that were written.
    private let written = Atomic<Int64>(0)

    private struct State {
        var handle: TransferHandle?
        var isCancelled = false
        /// Where the response came from.
        var url: HTTPURL?
        var meter = ProgressMeter()
    }

    private let state = Locked(State())

    init(number: Int, range: Range<Int64>?, source: Int, of attempt: TransferAttempt) {
        self.number = number
        self.range = range
        self.source = source
        self.attempt = attempt
    }

    /// Whether it waits for a speed limit, rather than for the origin.
    var isHeldBack: Bool { state.withLock { $0.handle }?.isHeldBack ?? false }

    /// Begins. The end is told even if it comes at once, or before this returns.
    func start(_ client: HTTPClient, _ request: ClientRequest) {
        let handle = client.start(request, sink: self)
        let isCancelled = state.withLock { state in
            state.handle = handle
            return state.isCancelled
        }
        if isCancelled { handle.cancel() }
    }

    /// Stops; the end is still told.
    func cancel() {
        let handle = state.withLock { state in
            state.isCancelled = true
            return state.handle
        }
        handle?.cancel()
    }

    func received(_ head: ClientResponseHead) -> SinkDecision {
        state.withLock { $0.url = head.url }
        return attempt.received(head, on: self)
    }

    /// Counts bytes that it has brought and that were written.
    func count(_ bytes: Int) { written.add(Int64(bytes), ordering: .relaxed) }

    /// Measures its speed; to be called a few times a second.
    func sample(at now: ContinuousClock.Instant) {
        let bytes = written.load(ordering: .relaxed)
        state.withLock { $0.meter.sample(bytes: bytes, at: now) }
    }

    /// The address that its response came from, `nil` before there is one, and its speed in bytes per second.
    func facts(at now: ContinuousClock.Instant) -> (url: HTTPURL?, bytesPerSecond: Int64) {
        state.withLock { ($0.url, $0.meter.bytesPerSecond(at: now)) }
    }

    func received(_ bytes: RawSpan) -> SinkDecision { attempt.received(bytes, on: self) }

    func finished(_ outcome: Result<TransferSummary, ClientError>) { attempt.finished(outcome, on: self) }
}
