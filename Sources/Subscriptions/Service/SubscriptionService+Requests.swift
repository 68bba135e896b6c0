public import DownloadCore
internal import Downloads
internal import HTTPClient
public import HTTPCore

/// The requests of clients about subscriptions.
extension SubscriptionService {
    /// All subscriptions, the oldest first.
    public var all: [Subscription] {
        entries.values.map(\.subscription).sorted { $0.id < $1.id }
    }

    /// Returns a subscription, also one that another replica has just added.
    /// - Throws: `notFound`, `refused`.
    public func find(_ id: DownloadID) async throws(SubscriptionError) -> Subscription {
        if entries[id] == nil {
            do throws(DownloadError) {
                if let stored = try await downloads.storedSubscription(id) { adopt(stored) }
            } catch {
                throw .refused(error)
            }
        }
        return try subscription(id)
    }

    /// Returns a subscription that is known here.
    /// - Throws: `notFound`.
    func subscription(_ id: DownloadID) throws(SubscriptionError) -> Subscription {
        guard let entry = entries[id] else { throw .notFound }
        return entry.subscription
    }

    /// Creates a subscription, and begins its first check. When the method returns, the record is durable.
    /// - Parameter name: The name before the first check; `nil` for the address, id or term.
    /// - Returns: The subscription, and whether it is new. There is one for each source.
    /// - Throws: `invalid`, `destinationForbidden`, `refused`.
    public func create(
        _ source: Subscription.Source, _ settings: Subscription.Settings, name: String? = nil
    ) async throws(SubscriptionError) -> (Subscription, isNew: Bool) {
        if let existing = existing(for: source) { return (existing, false) }
        guard entries.count < Limits.subscriptions else { throw Self.isFull }
        try check(source, settings)
        var subscription = Subscription(id: await downloads.makeID(), source: source, settings: settings, at: downloads.now)
        if let name { subscription.name = name }
        // Meanwhile another request may have created it, or the last one that the service takes.
        if let existing = existing(for: source) { return (existing, false) }
        guard entries.count < Limits.subscriptions else { throw Self.isFull }
        entries[subscription.id] = Entry(subscription)
        do throws(DownloadError) {
            try await save(subscription, under: SubscriptionClaim(id: subscription.id, number: nil))
        } catch {
            entries[subscription.id] = nil
            if error == .preconditionFailed, let existing = await added(source) { return (existing, false) }
            throw .refused(error)
        }
        schedule()
        return (try self.subscription(subscription.id), true)
    }

    private static let isFull = SubscriptionError.invalid(
        "the service has the \(Limits.subscriptions) subscriptions that it takes at most")

    /// Waits for the subscription that another replica has added for a source.
    private func added(_ source: Subscription.Source) async -> Subscription? {
        let deadline = ContinuousClock.now + Limits.additionWait
        while ContinuousClock.now < deadline {
            if let found = existing(for: source) { return found }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return nil
    }

    /// Returns the subscription for a source, also for a former address of its feed; `nil` if there is none.
    func existing(for source: Subscription.Source) -> Subscription? {
        let all = entries.values.lazy.map(\.subscription)
        if case .feed(let url) = source {
            let address = url.string
            return all.first { subscription in
                guard case .feed(let present) = subscription.source else { return false }
                return present.string == address || subscription.formerAddresses.contains(address)
            }
        }
        return all.first { $0.source == source }
    }

    private func check(
        _ source: Subscription.Source, _ settings: Subscription.Settings
    ) throws(SubscriptionError) {
        if case .search = source, settings.keep != nil {
            throw .invalid("'keep' is not for searches, whose results are works of many files")
        }
        if let shortest = settings.filter.minDurationMs, let longest = settings.filter.maxDurationMs, shortest > longest {
            throw .invalid("'minDurationMs' (\(shortest)) must not be above 'maxDurationMs' (\(longest))")
        }
        guard case .feed(let url) = source,
            case .forbidden(let reason) = destinationGuard?.evaluate(host: url.host, port: url.port)
        else { return }
        throw .destinationForbidden(reason)
    }

    /// Changes settings, and the address of a feed. When the method returns, the change is durable.
    /// - Parameters:
    ///   - address: The new address of the feed; `nil` for the present one.
    ///   - givesHeaders: Whether the change gives headers for the address.
    ///   - isExpected: Whether the subscription is still the version that the client means; `nil` for any version.
    ///   - change: Changes the settings.
    /// - Throws: `notFound`, `preconditionFailed`, `invalid`, `destinationForbidden`, `refused`.
    public func change(
        _ id: DownloadID, address: HTTPURL? = nil, givesHeaders: Bool = false,
        if isExpected: (@Sendable (Subscription) -> Bool)? = nil,
        _ change: @Sendable (inout Subscription.Settings) -> Void
    ) async throws(SubscriptionError) -> Subscription {
        // A check of the old address must not write over the new one.
        try await changing(id, endsCheck: address != nil) { claim throws(SubscriptionError) in
            var subscription = try subscription(id)
            if let isExpected, !isExpected(subscription) { throw .preconditionFailed }
            let before = subscription
            if let address, givesHeaders, address.origin != subscription.headersOrigin {
                // The present ones stay with the origin that they were given for.
                subscription.settings.headers = []
            }
            change(&subscription.settings)
            if let address {
                guard case .feed(let old) = subscription.source else {
                    throw .invalid("'feedUrl' is for subscriptions of feeds; this one has another source")
                }
                if address != old {
                    if let other = existing(for: .feed(address)), other.id != id {
                        throw .invalid("'feedUrl' is the address of another subscription, \(other.id)")
                    }
                    subscription.source = .feed(address)
                    subscription.validators = Subscription.Validators()
                }
            }
            // Without other headers, the present ones stay with the origin that they were given for.
            if givesHeaders, case .feed(let url) = subscription.source { subscription.headersOrigin = url.origin }
            if subscription == before { return before }
            try check(subscription.source, subscription.settings)
            let now = downloads.now
            subscription.touch(at: now)
            if subscription.source != before.source {
                subscription.nextCheckAt = subscription.state == .active ? now : nil
            } else if subscription.schedule != before.schedule, subscription.failures == 0 {
                // After failures, the interval does not depend on the settings.
                subscription.plan(after: subscription.checkedAt ?? now)
            }
            try await keep(subscription, under: claim)
            if subscription.settings.keep != before.settings.keep, subscription.hasSurplus { expireSoon(id) }
            schedule()
            return try self.subscription(id)
        }
    }

    /// Pauses a subscription. When the method returns, that is durable, and nothing is taken any more.
    /// - Throws: `notFound`, `refused`.
    public func pause(_ id: DownloadID) async throws(SubscriptionError) -> Subscription {
        try await changing(id, endsCheck: true) { claim throws(SubscriptionError) in
            let known: [String: KnownItem]
            do throws(DownloadError) { known = try await knownItems(of: id) } catch { throw .refused(error) }
            var subscription = try subscription(id)
            guard subscription.state == .active else { return subscription }
            subscription.state = .paused
            // The check that this pause has ended may have taken some.
            subscription.count(known.values)
            subscription.nextCheckAt = nil
            subscription.touch(at: downloads.now)
            try await keep(subscription, under: claim)
            return try self.subscription(id)
        }
    }

    /// Resumes a paused subscription or one that is gone: takes what was found meanwhile, and begins a check.
    /// - Throws: `notFound`, `refused`.
    public func resume(_ id: DownloadID) async throws(SubscriptionError) -> Subscription {
        try await changing(id, endsCheck: true) { claim throws(SubscriptionError) in
            var subscription = try subscription(id)
            guard subscription.state != .active else { return subscription }
            // Before the state, so that no interruption leaves them out.
            do throws(DownloadError) {
                try await takeNewItems(of: subscription, under: claim)
            } catch {
                throw .refused(error)
            }
            subscription = try self.subscription(id)
            subscription.state = .active
            subscription.nextCheckAt = downloads.now
            subscription.touch(at: downloads.now)
            try await keep(subscription, under: claim)
            return try self.subscription(id)
        }
    }

    /// Checks a subscription now, or joins its running check. A pause ends the wait for it.
    /// - Returns: The subscription, and whether the check has ended within 30 seconds.
    /// - Throws: `notFound`.
    public func refresh(_ id: DownloadID) async throws(SubscriptionError) -> (Subscription, hasEnded: Bool) {
        let before = try await find(id)
        guard let check = beginCheck(of: id) else { return (try subscription(id), false) }
        let (ends, continuation) = AsyncStream.makeStream(of: Bool.self)
        let waiting = Task {
            await self.end(of: check, of: id, after: before)
            continuation.yield(true)
        }
        let limit = Task {
            try await Task.sleep(for: Limits.answer)
            continuation.yield(false)
        }
        defer {
            waiting.cancel()
            limit.cancel()
        }
        for await hasEnded in ends { return (try subscription(id), hasEnded) }
        return (try subscription(id), false)
    }

    /// Waits for the end of a check, here or on another replica.
    /// - Parameter before: The subscription before the check.
    private func end(of check: Task<Bool, Never>, of id: DownloadID, after before: Subscription) async {
        var check = check
        while await !check.value, !Task.isCancelled, let present = entries[id]?.subscription,
            present.checkedAt == before.checkedAt, present.state == before.state || present.state != .paused
        {
            try? await Task.sleep(for: Limits.checkPause)
            // While a request changes the subscription, no check begins.
            if let next = beginCheck(of: id) { check = next }
        }
    }

    /// Removes a subscription and its items. When the method returns, that is durable, and nothing is taken any more.
    /// - Parameters:
    ///   - deletesDownloads: Whether the downloads that it made are removed, too.
    ///   - deletesFiles: Whether their files are removed.
    ///   - isExpected: Whether the subscription is still the version that the client means; `nil` for any version.
    /// - Throws: `notFound`, `preconditionFailed`, `refused`.
    public func remove(
        _ id: DownloadID, deletingDownloads deletesDownloads: Bool = false, files deletesFiles: Bool = false,
        if isExpected: (@Sendable (Subscription) -> Bool)? = nil
    ) async throws(SubscriptionError) {
        try await changing(id, endsCheck: true) { claim throws(SubscriptionError) in
            let subscription = try subscription(id)
            if let isExpected, !isExpected(subscription) { throw .preconditionFailed }
            do throws(DownloadError) {
                if deletesDownloads {
                    for item in try await knownItems(of: id).values where item.isMade {
                        guard let download = item.download,
                            try await !isHeld(download, besides: { $0.subscription == id })
                        else { continue }
                        do throws(DownloadError) {
                            try await downloads.remove(download, deletingFile: deletesFiles)
                        } catch .notFound {}
                    }
                }
                try await downloads.commit(claim.guarding([.removeSubscription(id)]))
            } catch {
                throw .refused(error)
            }
            entries[id] = nil
            events.publishRemoval(of: id)
        }
    }

    func keep(_ subscription: Subscription, under claim: SubscriptionClaim) async throws(SubscriptionError) {
        do throws(DownloadError) {
            try await save(subscription, under: claim)
        } catch {
            throw .refused(error)
        }
    }
}
