internal import HTTPCore
internal import HTTPServer

/// Remembers how requests with an `Idempotency-Key` were answered, so that a repeated one is answered the same without being
/// carried out again. What is remembered is bounded, and lasts as long as the process.
actor IdempotentAnswers {
    /// The most keys that are remembered; the oldest go first. An answer takes about 1 KiB, one of a large batch up to 1 MiB.
    static let capacity = 1000
    /// The most bytes of answers that are remembered.
    static let byteCapacity = 16 * 1024 * 1024

    private struct Entry {
        let request: [UInt8]
        var response: Response?
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private var entries: [String: Entry] = [:]
    private var order: [String] = []
    private var bytes = 0

    /// The answer of the first request with that key, carried out if this is it. Failures are not remembered: repeating is what
    /// the key is for.
    /// - Parameters:
    ///   - key: the client's.
    ///   - request: what the request asks for; another with the same key is refused.
    func answer(
        _ key: String, to request: [UInt8], by work: @Sendable () async throws(Problem) -> Response
    ) async throws(Problem) -> Response {
        while let entry = entries[key] {
            guard entry.request == request else {
                throw Problem(.idempotencyMismatch, "the Idempotency-Key was used for a request with another body")
            }
            if let response = entry.response { return response }
            // The first one is still being carried out.
            await withCheckedContinuation { entries[key]?.waiters.append($0) }
        }
        entries[key] = Entry(request: request)
        do throws(Problem) {
            let response = try await work()
            keep(response, for: key)
            return response
        } catch {
            let waiters = entries.removeValue(forKey: key)?.waiters ?? []
            for waiter in waiters { waiter.resume() }
            throw error
        }
    }

    private func keep(_ response: Response, for key: String) {
        let waiters = entries[key]?.waiters ?? []
        entries[key]?.waiters = []
        entries[key]?.response = response
        order.append(key)
        bytes += size(of: key)
        while order.count > Self.capacity || (bytes > Self.byteCapacity && order.count > 1) {
            let oldest = order.removeFirst()
            bytes -= size(of: oldest)
            entries[oldest] = nil
        }
        for waiter in waiters { waiter.resume() }
    }

    private func size(of key: String) -> Int {
        guard let entry = entries[key] else { return 0 }
        return entry.request.count + (entry.response?.body.count ?? 0)
    }
}

extension API {
    /// Carries out a request later; one with an `Idempotency-Key` only the first time.
    func once(
        _ request: borrowing Request, _ work: @escaping @Sendable () async throws(Problem) -> Response
    ) throws(Problem) -> Answer {
        guard let key = request.head.fields[.idempotencyKey] else { return .later(work) }
        guard (1...255).contains(key.utf8.count), request.head.fields.values(.idempotencyKey).count == 1 else {
            throw Problem(.invalidRequest, "the Idempotency-Key must be given once and have 1 to 255 characters")
        }
        let fingerprint = Array(request.head.target.rawPath) + [0] + request.body
        let answers = answers
        return .later { () throws(Problem) in try await answers.answer(key, to: fingerprint, by: work) }
    }
}
