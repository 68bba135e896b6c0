internal import HTTPClient
internal import HTTPCore
internal import System
internal import XML

extension ObjectStorage {
    /// The outcome of one try.
    private enum Outcome {
        case done(ClientResponse)
        /// A failure after which another try may succeed.
        case transient(ObjectStorageError)
        case failed(ObjectStorageError)
    }

    /// Sends a request, and repeats it after transient failures.
    func send(_ request: StorageRequest) async throws(ObjectStorageError) -> ClientResponse {
        let policy = StorageRetryPolicy(tries: limits.tries, firstPause: limits.firstPause)
        var number = 1
        var isSignedAgain = false
        while true {
            switch await attempt(request) {
            case .done(let response): return response
            // The refusal has shown the service's time.
            case .failed(.clockSkew) where !isSignedAgain: isSignedAgain = true
            case .failed(let error): throw error
            case .transient(let error):
                guard let pause = policy.pause(afterTry: number, chance: .random(in: 0...1)) else { throw error }
                number += 1
                // Cancellation ends the pause; the next try then fails.
                try? await Task.sleep(for: pause)
            }
        }
    }

    private func attempt(_ request: StorageRequest) async -> Outcome {
        guard let signed = signed(request) else {
            return .failed(.refused(status: 400, code: "", message: "the key makes no URL"))
        }
        let begun = ContinuousClock.now
        let response: ClientResponse
        do throws(ClientError) {
            response = try await client.fetch(signed, bodyLimit: limits.answerBytes)
        } catch {
            return Self.outcome(of: error)
        }
        if let date = StorageClock.date(in: response.head) {
            let now = SystemTime.sinceEpoch / 1_000_000_000
            service.withLock { $0.clock.note(date, at: now, after: .now - begun) }
        }
        let isSuccessful = response.head.status.isSuccessful
        if isSuccessful, !request.failsLate { return .done(response) }
        let root = try? XMLElement.parse(response.body)
        if isSuccessful {
            // The connection broke without an error, or the service stopped in the middle.
            guard let root else { return .transient(.unavailable("its response breaks off")) }
            if root.name != "Error" { return .done(response) }
        }
        let fault = ServiceFault(response, root)
        return fault.isTransient ? .transient(fault.error) : .failed(fault.error)
    }

    private static func outcome(of error: ClientError) -> Outcome {
        switch error {
        case .cancelled, .stopped: .failed(.cancelled)
        case .connectionFailed, .timedOut, .stalled, .transferBroken: .transient(.unavailable(error.message))
        // A TLS failure is not transient, but it is not a refusal of the service either.
        case .tls, .destinationForbidden, .proxyRefused: .failed(.unavailable(error.message))
        // The file is the only part of a request that is not made here.
        case .invalidRequest(let reason): .failed(.unreadableFile(reason))
        case .unsupportedScheme, .invalidRedirect, .tooManyRedirects, .unsupportedEncoding, .bodyTooLarge, .invalidResponse,
            .onlyHTTP2:
            .failed(.invalidResponse(error.message))
        }
    }

    private func signed(_ request: StorageRequest) -> ClientRequest? {
        let endpoint = location.endpoint
        let path = path(request.key, at: endpoint)
        let query = RequestSigner.encodeQuery(request.query)
        let text = "\(endpoint.scheme)://\(endpoint.authority)\(path)" + (query.isEmpty ? "" : "?\(query)")
        guard let url = HTTPURL(text) else { return nil }
        var result = ClientRequest(url: url)
        result.method = request.method
        result.body = request.body
        result.fields =
            request.fields
            + signer.fields(
                method: request.method, host: url.authority, path: path, query: request.query, fields: request.fields,
                digest: request.digest, now: now)
        result.range = request.range.map { "bytes=\($0.lowerBound)-\($0.upperBound - 1)" }
        // A signed request must not reach another service by a redirect.
        result.maximumRedirects = nil
        result.connectTimeout = limits.connectTimeout
        result.lowSpeedLimit = (1, limits.idleTimeout)
        let length = request.failsLate ? .max : request.body?.count ?? 0
        result.headTimeout = length <= limits.smallLength ? limits.smallRequestTimeout : limits.answerTimeout
        result.totalTimeout = length == 0 ? limits.smallRequestTimeout : nil
        return result
    }
}
