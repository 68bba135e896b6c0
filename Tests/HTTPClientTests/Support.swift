import HTTPClient
import HTTPCore
import Synchronization
import TestSupport

/// Records a transfer, and lets tests wait for its parts.
final class RecordingSink: TransferSink {
    struct Record: Sendable {
        var heads: [ClientResponseHead] = []
        var redirects: [ClientResponseHead] = []
        var bytes: [UInt8] = []
        var outcomes: [Result<TransferSummary, ClientError>] = []
    }

    let record = Waiter(Record())
    private let longestWait: Duration?
    private let decideHead: @Sendable (ClientResponseHead) -> SinkDecision
    private let decideBytes: @Sendable (_ soFar: Int) -> SinkDecision

    init(
        longestWait: Duration? = nil, head: @escaping @Sendable (ClientResponseHead) -> SinkDecision = { _ in .proceed },
        bytes: @escaping @Sendable (_ soFar: Int) -> SinkDecision = { _ in .proceed }
    ) {
        self.longestWait = longestWait
        decideHead = head
        decideBytes = bytes
    }

    func received(_ head: ClientResponseHead) -> SinkDecision {
        record.update { $0.heads.append(head) }
        return decideHead(head)
    }

    func redirected(by head: ClientResponseHead) {
        record.update { $0.redirects.append(head) }
    }

    func extendedLimit() -> Duration? { longestWait }

    func received(_ bytes: RawSpan) -> SinkDecision {
        let piece = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
        let count = record.update { record in
            record.bytes += piece
            return record.bytes.count
        }
        return decideBytes(count)
    }

    func finished(_ outcome: Result<TransferSummary, ClientError>) {
        record.update { $0.outcomes.append(outcome) }
    }

    /// Waits for the end.
    func outcome() async throws -> Result<TransferSummary, ClientError> {
        let record = try await record.wait { !$0.outcomes.isEmpty }
        return record.outcomes[0]
    }
}

extension Result where Failure == ClientError {
    /// The error, if it is one.
    var error: ClientError? {
        if case .failure(let error) = self { return error }
        return nil
    }
}

extension ClientError {
    /// The name of the case, for tables.
    var kind: String {
        switch self {
        case .cancelled: "cancelled"
        case .stopped: "stopped"
        case .destinationForbidden: "destinationForbidden"
        case .unsupportedScheme: "unsupportedScheme"
        case .invalidRedirect(let status, _): "invalidRedirect \(status)"
        case .tooManyRedirects: "tooManyRedirects"
        case .tls: "tls"
        case .connectionFailed: "connectionFailed"
        case .proxyRefused: "proxyRefused"
        case .timedOut: "timedOut"
        case .stalled: "stalled"
        case .transferBroken: "transferBroken"
        case .unsupportedEncoding: "unsupportedEncoding"
        case .bodyTooLarge: "bodyTooLarge"
        case .invalidResponse: "invalidResponse"
        case .onlyHTTP2: "onlyHTTP2"
        case .invalidRequest: "invalidRequest"
        }
    }
}

/// A URL that is valid.
func url(_ string: String) throws -> HTTPURL {
    guard let url = HTTPURL(string) else { throw NotAURL(string: string) }
    return url
}

struct NotAURL: Error {
    let string: String
}

extension ClientRequest {
    /// A GET from an origin of the test.
    init(_ origin: ScriptedOrigin, _ path: String = "/") throws {
        self.init(url: try HTTPClientTests.url(origin.url(path)))
    }
}

extension HTTPClient {
    /// The error of a fetch; nil if it succeeds.
    func failure(of request: ClientRequest, bodyLimit: Int = 1000) async -> ClientError? {
        do {
            _ = try await fetch(request, bodyLimit: bodyLimit)
            return nil
        } catch {
            return error
        }
    }
}
