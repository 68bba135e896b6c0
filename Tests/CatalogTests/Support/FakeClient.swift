import Catalog
import HTTPCore
import Synchronization
import System
import TestSupport

@testable import HTTPClient

/// A source whose responses come from a script, or from the test if the script has none.
final class FakeClient: UpstreamClient {
    typealias Outcome = Result<ClientResponse, ClientError>
    typealias Script = @Sendable (ClientRequest) -> Outcome?

    /// All requests in order.
    let requests = Waiter<[ClientRequest]>([])
    /// The numbers of the requests that were cancelled without a response.
    let cancelled = Waiter<Set<Int>>([])
    private let script: Script
    private let open = Locked<[Int: CheckedContinuation<Outcome, Never>]>([:])

    init(_ script: @escaping Script = { _ in nil }) {
        self.script = script
    }

    var count: Int { requests.value.count }

    func fetch(_ request: ClientRequest, bodyLimit: Int) async throws(ClientError) -> ClientResponse {
        if let outcome = script(request) {
            requests.update { $0.append(request) }
            return try outcome.get()
        }
        let number = Mutex(-1)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Outcome, Never>) in
                open.withLock { open in
                    let index = requests.update { requests in
                        requests.append(request)
                        return requests.count - 1
                    }
                    number.withLock { $0 = index }
                    open[index] = continuation
                }
                if Task.isCancelled { cancel(number.withLock { $0 }) }
            }
        } onCancel: {
            cancel(number.withLock { $0 })
        }
        return try outcome.get()
    }

    /// Responds to a request without a scripted response.
    func respond(_ number: Int, _ outcome: Outcome) {
        open.withLock { $0.removeValue(forKey: number) }?.resume(returning: outcome)
    }

    private func cancel(_ number: Int) {
        guard let continuation = open.withLock({ $0.removeValue(forKey: number) }) else { return }
        cancelled.update { _ = $0.insert(number) }
        continuation.resume(returning: .failure(.cancelled))
    }
}

extension ClientResponse {
    /// A response of a source.
    static func with(
        status: Int = 200, type: String? = "text/javascript; charset=utf-8", fields more: [(FieldName, String)] = [],
        _ body: [UInt8]
    ) -> ClientResponse {
        var fields = Fields()
        if let type { fields.append(.contentType, type) }
        for (name, value) in more { fields.append(name, value) }
        let head = ClientResponseHead(
            status: HTTPStatus(status), fields: fields, url: itunesURL, contentLength: nil)
        return ClientResponse(head: head, body: body)
    }

    static func with(
        status: Int = 200, type: String? = "text/javascript; charset=utf-8", fields: [(FieldName, String)] = [],
        _ body: String
    ) -> ClientResponse {
        with(status: status, type: type, fields: fields, Array(body.utf8))
    }
}
