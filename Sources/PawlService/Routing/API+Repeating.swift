internal import DownloadCore
internal import Downloads
internal import HTTPCore
internal import HTTPServer

/// Requests that a client repeats because the response was lost.
extension API {
    /// Carries out a request later; one with an `Idempotency-Key` only the first time.
    ///
    /// Failures are not kept, so that a repetition can succeed. The outcome is committed together with the changes of
    /// the request, so a crash loses both or neither.
    /// - Parameters:
    ///   - work: Carries out the request, and stores the key together with its changes.
    ///   - kept: Returns the outcome of the first request.
    ///   - response: Makes the response, to the first request and to a repetition alike.
    func once<Outcome: Sendable>(
        _ request: borrowing Request, _ work: @escaping @Sendable (RequestKey?) async throws(Problem) -> Outcome,
        kept: @escaping @Sendable (IdempotencyRecord) throws(Problem) -> Outcome,
        response: @escaping @Sendable (Outcome) throws(Problem) -> Response
    ) throws(Problem) -> RouteResult {
        guard let value = request.head.fields.value(.idempotencyKey) else {
            return .later { () throws(Problem) in try response(try await work(nil)) }
        }
        guard (1...255).contains(value.bytes.count), request.head.fields.count(.idempotencyKey) == 1 else {
            throw Problem(.invalidRequest, "the Idempotency-Key must be given once and have 1 to 255 characters")
        }
        // A key is bytes (RFC 9110 §5.5); `latin1` maps each to one text, even if they are not UTF-8.
        let key = RequestKey(value.latin1, request: Array(request.head.target.rawPath) + [0] + request.body)
        let downloads = downloads
        return .later { () throws(Problem) in
            let record = try await DownloadError.asProblem(await downloads.reserve(key))
            if let record { return try response(try kept(record)) }
            let outcome: Outcome
            do throws(Problem) {
                outcome = try await work(key)
            } catch {
                await downloads.release(key, after: error.status == .serviceUnavailable ? .overloaded : nil)
                throw error
            }
            await downloads.release(key)
            return try response(outcome)
        }
    }
}
