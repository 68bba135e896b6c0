internal import HTTPCore

extension DownloadService {
    /// Asks whether a request with this key has been answered. If it has not, it is the caller's to carry out, and nobody else's
    /// until it is released: whoever comes with the same key meanwhile waits.
    /// - Parameter key: the request's key.
    /// - Returns: what was answered, with the downloads as they were shown then; `nil`: nothing yet.
    /// - Throws: `keyMismatch`, `shuttingDown`.
    public func claim(_ key: RequestKey) async throws(DownloadError) -> [KeptOutcome]? {
        while true {
            guard !isShuttingDown else { throw .shuttingDown }
            guard let claim = claims[key.name] else { break }
            guard claim.digest == key.digest else { throw .keyMismatch }
            await withCheckedContinuation { claims[key.name]?.waiters.append($0) }
        }
        switch answers.lookUp(key, now: .now()) {
        case .answered(let outcomes): return outcomes
        case .mismatch: throw .keyMismatch
        case .unknown: break
        }
        claims[key.name] = Claim(digest: key.digest)
        return nil
    }

    /// Lets those go on who wait for the request with this key to be answered. If it has not been, because it failed, the next
    /// of them carries it out.
    public func release(_ key: RequestKey) {
        for waiter in claims.removeValue(forKey: key.name)?.waiters ?? [] { waiter.resume() }
    }

    /// A request with a key that is being carried out.
    struct Claim {
        let digest: [UInt8]
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// What has to be written with an answer, so that it is the answer from then on.
    func remember(_ outcomes: [OrderOutcome], as key: RequestKey?) -> [StoreChange] {
        guard let key else { return [] }
        let now = Timestamp.now()
        let answer = KeptAnswer(key: key.name, digest: key.digest, outcomes: outcomes.map(kept), createdAt: now)
        return [.remember(answer)] + answers.remember(answer, now: now).map(StoreChange.forget)
    }

    /// What could not be written is no answer.
    func forget(_ key: RequestKey?) {
        if let key { answers.forget(key.name) }
    }

    private func kept(_ outcome: OrderOutcome) -> KeptOutcome {
        switch outcome {
        case .created(let download): .created(download.id, shown: configuration.resource?(download) ?? [])
        case .existing(let download): .existing(download.id, shown: configuration.resource?(download) ?? [])
        case .refused(let words): .refused(words)
        }
    }
}
