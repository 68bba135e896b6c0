internal import HTTPClient
internal import HTTPCore
internal import System

/// Parses an event stream as it arrives, and keeps its events until they are taken.
final class EventSink: TransferSink {
    /// The events that arrived since the last call.
    struct Arrivals: Sendable {
        var events: [ServiceEvent] = []
        /// The reason why the stream has ended; `nil` while it continues.
        var end: RemoteError?
    }

    private struct State {
        var parser = EventStreamParser()
        var inbox = EventInbox()
        var status = 0
        /// The body of a response that is not a stream.
        var refusal: [UInt8] = []
        var end: RemoteError?
    }

    /// The maximum number of bytes read of a refusal.
    private static let refusalLimit = 64 << 10

    private let service: RemoteService
    private let wake: @Sendable () -> Void
    private let state = Locked(State())

    init(_ service: RemoteService, wake: @escaping @Sendable () -> Void) {
        self.service = service
        self.wake = wake
    }

    func takeArrivals() -> Arrivals {
        state.withLock { Arrivals(events: $0.inbox.takeAll(), end: $0.end) }
    }

    func received(_ head: ClientResponseHead) -> SinkDecision {
        state.withLock { $0.status = head.status.code }
        return .proceed
    }

    func received(_ bytes: RawSpan) -> SinkDecision {
        let bytes = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
        let (decision, hasEvents) = state.withLock { state -> (SinkDecision, Bool) in
            guard state.status == 200 else {
                state.refusal += bytes.prefix(Self.refusalLimit - state.refusal.count)
                return (.proceed, false)
            }
            guard let events = try? state.parser.parse(bytes) else { return (.stop, false) }
            for event in events.compactMap(ServiceEvent.init) { state.inbox.add(event) }
            return (.proceed, !events.isEmpty)
        }
        if hasEvents { wake() }
        return decision
    }

    func finished(_ outcome: Result<TransferSummary, ClientError>) {
        state.withLock { state in
            switch outcome {
            case .failure(.stopped): state.end = .notPawl(server: service.name, reason: "its events are too long")
            case .failure(.stalled):
                state.end = .unreachable(
                    server: service.name, reason: "it sent nothing for \(RemoteService.ClientLimits.silence.components.seconds) s"
                )
            case .failure(let error): state.end = service.remoteError(error)
            case .success where state.status == 200:
                state.end = .unreachable(server: service.name, reason: "it ended the event stream")
            case .success:
                do throws(RemoteError) {
                    _ = try service.json(of: state.refusal, status: state.status)
                    state.end = .notPawl(server: service.name, reason: "it responded with \(state.status) in place of events")
                } catch {
                    state.end = error
                }
            }
        }
        wake()
    }
}
