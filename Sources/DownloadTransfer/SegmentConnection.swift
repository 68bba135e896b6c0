internal import HTTPClient
internal import HTTPCore
internal import Synchronization
internal import System

/// One connection of an attempt. It passes on what it receives, and can be stopped at any time.
package final class SegmentConnection: TransferSink {
    /// The number of the connection in the attempt's plan.
    let number: Int
    /// The requested range; `nil` for the first connection, whose response describes the file.
    let range: Range<Int64>?
    /// The source of the connection, as an index of the attempt's sources.
    let source: Int
    /// The URL of that source.
    let sourceURL: HTTPURL
    private let attempt: TransferAttempt
    /// The number of bytes that the connection has brought and that were written.
    private let written = Atomic<Int64>(0)

    private struct State {
        var handle: TransferHandle?
        var isCancelled = false
        /// The URL of the response; `nil` before there is one.
        var url: HTTPURL?
        var meter = ProgressMeter()
    }

    private let state = Locked(State())

    init(number: Int, range: Range<Int64>?, source: Int, at sourceURL: HTTPURL, of attempt: TransferAttempt) {
        self.number = number
        self.range = range
        self.source = source
        self.sourceURL = sourceURL
        self.attempt = attempt
    }

    /// Whether the connection waits for a speed limit instead of the origin.
    var isHeldBack: Bool { state.withLock { $0.handle }?.isHeldBack ?? false }

    /// Starts the transfer. Its end is reported even if it comes at once, or before this returns.
    func start(_ client: HTTPClient, _ request: ClientRequest) {
        let handle = client.start(request, sink: self)
        let isCancelled = state.withLock { state in
            state.handle = handle
            return state.isCancelled
        }
        if isCancelled { handle.cancel() }
    }

    /// Stops the transfer. Its end is still reported.
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

    /// Whether its response has begun.
    var hasHead: Bool { state.withLock { $0.url != nil } }

    func redirected(by head: ClientResponseHead) { attempt.redirected(by: head, on: self) }

    func extendedLimit() -> Duration? { attempt.extendedLimit(of: self) }

    /// Adds to the number of bytes that were brought and written.
    func count(_ bytes: Int) { written.add(Int64(bytes), ordering: .relaxed) }

    /// Samples the byte counter for the speed. To be called a few times a second.
    func sample(at now: ContinuousClock.Instant) {
        let bytes = written.load(ordering: .relaxed)
        state.withLock { $0.meter.sample(bytes: bytes, at: now) }
    }

    /// Returns the URL of the response, `nil` before there is one, and the speed in bytes per second.
    func facts(at now: ContinuousClock.Instant) -> (url: HTTPURL?, bytesPerSecond: Int64) {
        state.withLock { ($0.url, $0.meter.bytesPerSecond(at: now)) }
    }

    func received(_ bytes: RawSpan) -> SinkDecision { attempt.received(bytes, on: self) }

    func finished(_ outcome: Result<TransferSummary, ClientError>) { attempt.finished(outcome, on: self) }
}
