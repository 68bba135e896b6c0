import HTTPCore
import System

extension HTTPClient {
    /// Fetches a response with its whole body into memory. Cancelling the task cancels the transfer.
    /// - Parameters:
    ///   - request: The request.
    ///   - bodyLimit: The maximum length of the body, in bytes.
    /// - Throws: The error that ended the transfer. It is ``ClientError/bodyTooLarge(_:)`` if the body exceeds the
    ///   limit; the rest of the body is not read.
    public func fetch(_ request: ClientRequest, bodyLimit: Int) async throws(ClientError) -> ClientResponse {
        try await fetch(request, bodyLimit: bodyLimit, cutsBody: false)
    }

    /// Fetches a response, of whose body the end may be missing. Cancelling the task cancels the transfer.
    /// - Parameters:
    ///   - request: The request.
    ///   - bodyLimit: The maximum length of the body, in bytes.
    ///   - cutsBody: Whether a longer body is cut at the limit, and no error.
    /// - Throws: As ``fetch(_:bodyLimit:)``.
    public func fetch(
        _ request: ClientRequest, bodyLimit: Int, cutsBody: Bool
    ) async throws(ClientError) -> ClientResponse {
        let sink = CollectingSink(bodyLimit: bodyLimit, cutsBody: cutsBody, expectsBody: request.method != "HEAD")
        let transfer = Transfer(request: request, loop: loop(for: request))
        let outcome = await withTaskCancellationHandler {
            submit(transfer, sink: sink)
            return await sink.outcome.value()
        } onCancel: {
            // The cancellation may precede the submission: the loop checks for it before the transfer begins.
            transfer.cancel()
        }
        return try outcome.get()
    }
}

/// A sink that collects a body in memory and returns it to a waiting task.
private final class CollectingSink: TransferSink {
    private struct State {
        var head: ClientResponseHead?
        var body: [UInt8] = []
        var isTooLarge = false
    }

    private let bodyLimit: Int
    private let cutsBody: Bool
    private let expectsBody: Bool
    private let state = Locked(State())
    let outcome = Outcome<Result<ClientResponse, ClientError>>()

    init(bodyLimit: Int, cutsBody: Bool, expectsBody: Bool) {
        self.bodyLimit = max(0, bodyLimit)
        self.cutsBody = cutsBody
        self.expectsBody = expectsBody
    }

    func received(_ head: ClientResponseHead) -> SinkDecision {
        state.withLock { $0.head = head }
        guard expectsBody, !head.status.forbidsBody, let length = head.contentLength else { return .proceed }
        return state.withLock { state in
            state.isTooLarge = length > Int64(bodyLimit)
            // The announced length may be wrong, so no more than a megabyte is reserved in advance.
            if !state.isTooLarge { state.body.reserveCapacity(Int(min(length, 1 << 20))) }
            return state.isTooLarge ? .stop : .proceed
        }
    }

    func received(_ bytes: RawSpan) -> SinkDecision {
        state.withLock { state in
            guard bytes.byteCount <= bodyLimit - state.body.count else {
                state.isTooLarge = true
                return .stop
            }
            unsafe bytes.withUnsafeBytes { unsafe state.body.append(contentsOf: $0) }
            return .proceed
        }
    }

    func finished(_ end: Result<TransferSummary, ClientError>) {
        outcome.set(
            state.withLock { state in
                switch end {
                case .success(let summary): .success(ClientResponse(head: summary.head, body: state.body))
                case .failure(.stopped) where state.isTooLarge:
                    if cutsBody, let head = state.head {
                        .success(ClientResponse(head: head, body: state.body))
                    } else {
                        .failure(.bodyTooLarge(bodyLimit))
                    }
                case .failure(let error): .failure(error)
                }
            })
    }
}
