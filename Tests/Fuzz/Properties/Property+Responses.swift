internal import Glibc
internal import HTTPClient
internal import HTTPCore
internal import System

extension Property {
    /// Responses of an origin, each up to a NUL, which the product's client reads over real connections. The transfer
    /// ends, and a later request gets its own response, despite the earlier bytes of the connection.
    func checkResponses(_ bytes: [UInt8]) throws(Violation) {
        // Without two slashes, no redirect leads to another host.
        if zip(bytes, bytes.dropFirst()).contains(where: { $0 == UInt8(ascii: "/") && $1 == $0 }) { return }
        guard let (origin, client) = Self.connection else { throw Violation("there is no socket to listen on") }
        let answers = bytes.split(separator: 0, maxSplits: 7).map(Array.init)
        origin.answers.withLock { $0 = answers }
        guard let outcome = fetch("/", from: origin, by: client) else { throw Violation("the transfer has no end") }
        if case .success(let body) = outcome {
            try expect(body.count <= bytes.count, "\(body.count) bytes of body come from \(bytes.count)")
        }
        origin.answers.withLock { $0 = [] }
        let body: [UInt8]
        switch fetch("/good", from: origin, by: client) {
        case .success(let bytes): body = bytes
        case .failure(let error): throw Violation("the request behind it has failed: \(error)")
        case nil: throw Violation("the request behind it has no end")
        }
        try expect(body == Array("good".utf8), "the request behind it is answered with \(String(decoding: body, as: UTF8.self))")
    }

    private static let connection: (MutatedOrigin, HTTPClient)? = {
        var configuration = ClientConfiguration()
        configuration.threads = 1
        // With a login, Digest challenges are answered.
        configuration.credentials.netrc =
            (try? NetrcFile(parsing: Array("default login ada password secret".utf8))) ?? NetrcFile()
        guard let origin = MutatedOrigin(), let client = try? HTTPClient(configuration: configuration) else { return nil }
        return (origin, client)
    }()

    /// The body of a response, or its error; `nil` if the transfer does not end within its limits.
    private func fetch(_ path: String, from origin: MutatedOrigin, by client: HTTPClient) -> Result<[UInt8], ClientError>? {
        guard let url = HTTPURL("http://127.0.0.1:\(origin.port)\(path)") else { return nil }
        var request = ClientRequest(url: url)
        request.isForOrigin = true
        // Bytes that the origin omits never arrive.
        request.headTimeout = .milliseconds(20)
        request.totalTimeout = .milliseconds(path == "/" ? 40 : 5_000)
        if path != "/" { request.headTimeout = .seconds(5) }
        let sink = BodySink()
        client.start(request, sink: sink)
        return sink.wait()
    }
}

/// Collects a body for a waiting thread.
private final class BodySink: TransferSink {
    private let body = Locked<[UInt8]>([])
    private let end = Locked<Result<[UInt8], ClientError>?>(nil)

    func received(_ head: ClientResponseHead) -> SinkDecision { .proceed }

    func received(_ bytes: RawSpan) -> SinkDecision {
        body.withLock { body in
            for index in 0..<bytes.byteCount { body.append(unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)) }
        }
        return .proceed
    }

    func finished(_ outcome: Result<TransferSummary, ClientError>) {
        let body = body.withLock { $0 }
        end.withLock { $0 = outcome.map { _ in body } }
    }

    /// Waits for at most ten seconds.
    func wait() -> Result<[UInt8], ClientError>? {
        for _ in 0..<100_000 {
            if let end = end.withLock({ $0 }) { return end }
            usleep(100)
        }
        return nil
    }
}
