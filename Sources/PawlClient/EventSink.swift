internal import HTTPClient
internal import HTTPCore
internal import System

/// Reads an event stream as it arrives, and keeps its events until they are drawn.
final class EventSink: TransferSink {
    /// What has arrived since it was last taken.
    struct Arrivals: Sendable {
        var events: [ServiceEvent] = []
        /// Why there will be no more; `nil` while there may be.
        var end: RemoteError?
    }

    private struct State {
        var parser = EventStreamParser()
        var inbox = EventInbox()
        var status = 0
        /// The body of a response that is no stream.
        var refusal: [UInt8] = []
        var end: RemoteError?
    }

    /// Bytes of a refusal that are read.
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
            case .failure(.stalled): state.end = .unreachable(server: service.name, reason: "it fell silent")
            case .failure(let error): state.end = service.remoteError(error)
            case .success where state.status == 200:
                state.end = .unreachable(server: service.name, reason: "it ended the event stream")
            case .success:
                do throws(RemoteError) {
                    _ = try service.json(of: state.refusal, status: state.status)
                    state.end = .notPawl(server: service.name, reason: "it responds with \(state.status) where events should be")
                } catch {
                    state.end = error
                }
            }
        }
        wake()
    }
}
