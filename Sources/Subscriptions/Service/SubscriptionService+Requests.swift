public import DownloadCore
internal import Downloads
internal import HTTPClient
public import HTTPCore
internal import System

/// The requests of clients about subscriptions.
extension SubscriptionService {
    /// Returns a subscription, also one that another replica has just added.
    /// - Throws: `notFound`, `refused`.
    public func find(_ id: RecordID) async throws(SubscriptionError) -> Subscription {
        if entries[id] == nil {
            do throws(DownloadError) {
                if let stored = try await downloads.storedSubscription(id) { adopt(stored) }
            } catch {
                throw .refused(error)
            }
        }
        return try durable(id)
    }

    /// Returns a subscription that is known here, with the changes that are not durable yet.
    /// - Throws: `notFound`.
    func subscription(_ id: RecordID) throws(SubscriptionError) -> Subscription {
        guard let entry = entries[id] else { throw .notFound }
        return entry.subscription
    }

    /// Returns a subscription as clients may see it.
    /// - Throws: `notFound`.
    func durable(_ id: RecordID) throws(SubscriptionError) -> Subscription {
        guard let durable = entries[id]?.durable else { throw .notFound }
        return durable
    }

    /// Returns a subscription once its present state is durable.
    /// - Throws: `notFound`, `refused`.
    private func settled(_ id: RecordID) async throws(SubscriptionError) -> Subscription {
        let version = try subscription(id).version
        let isSettled = await waits { (entries[id]?.durable).map { $0.version >= version } ?? true }
        // Refused changes have been withdrawn.
        guard isSettled, try subscription(id).version >= version else { throw .refused(.overloaded) }
        return try durable(id)
    }

    /// Waits for a condition that the end of a commit may bring about.
    /// - Returns: Whether it holds in time.
    private func waits(until condition: () -> Bool) async -> Bool {
        let deadline = ContinuousClock.now + Limits.additionWait
        while !condition() {
            guard ContinuousClock.now < deadline else { return false }
            do { try await Task.sleep(for: Limits.commitPause) } catch { return false }
        }
        return true
    }

    /// Creates a subscription, and begins its first check. When the method returns, the record and the outcome of the
    /// request's key are durable.
    /// - Parameters:
    ///   - name: The name before the first check; `nil` for the address, id or term.
    ///   - key: The request's key, which has been claimed; `nil` for none.
    /// - Returns: The subscription, and whether it is new. There is one for each source.
    /// - Throws: `invalid`, `destinationForbidden`, `refused`.
    public func create(
        _ source: Subscription.Source, _ settings: Subscription.Settings, name: String? = nil, key: RequestKey? = nil
    ) async throws(SubscriptionError) -> (Subscription, isNew: Bool) {
        let id = await downloads.makeID()
        do throws(DownloadError) {
            if let existing = try await known(source) {
                if let key { try await downloads.commit([], keeping: (existing.shown, false), as: key) }
                return (existing, false)
            }
        } catch {
            throw .refused(error)
        }
        guard entries.count < Limits.subscriptions else {
            throw .invalid("the service has the \(Limits.subscriptions) subscriptions that it takes at most")
        }
        try check(source, settings)
        var subscription = Subscription(id: id, source: source, settings: settings, at: downloads.now)
        if let name { subscription.name = name }
        add(subscription)
        do throws(DownloadError) {
            try await save(subscription, under: SubscriptionClaim(id: id, number: nil), as: key)
        } catch {
            guard error == .preconditionFailed else { throw .refused(error) }
            return try await added(source, key)
        }
        return (subscription, true)
    }

    /// Returns the durable subscription for a source; `nil` if there is none. Waits for a commit that may bring one about,
    /// or remove it.
    private func known(_ source: Subscription.Source) async throws(DownloadError) -> Subscription? {
        var found: Subscription?
        let isKnown = await waits {
            // One whose removal is under way may stay, or not.
            found = candidates(for: source).lazy.filter { !$0.isEnding }.compactMap(\.durable).first { $0.isOf(source) }
            return found != nil || existing(for: source) == nil
        }
        guard isKnown else { throw .overloaded }
        // Another replica may have just removed it.
        guard let id = found?.id, downloads.isShared, try await downloads.storedSubscription(id) == nil else { return found }
        forget(id)
        return try await known(source)
    }

    /// Waits for the subscription that another replica has added for a source, or for a request with the same key.
    private func added(
        _ source: Subscription.Source, _ key: RequestKey?
    ) async throws(SubscriptionError) -> (Subscription, isNew: Bool) {
        do throws(DownloadError) {
            if let key, let kept = try await downloads.keptSubscription(of: key), let found = Subscription(kept.stored) {
                return (found, kept.isNew)
            }
            let isThere = await waits { existing(for: source) != nil }
            guard isThere, let found = try await known(source) else { throw .overloaded }
            return (found, false)
        } catch {
            throw .refused(error)
        }
    }

    /// Returns the subscription for a source, also for a former address of its feed, and before that is durable; `nil` if
    /// there is none.
    func existing(for source: Subscription.Source) -> Subscription? {
        candidates(for: source).first { $0.subscription.isOf(source) || $0.durable?.isOf(source) ?? false }?.subscription
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
        _ id: RecordID, address: HTTPURL? = nil, givesHeaders: Bool = false,
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
                subscription.settings.options.headers = RequestHeaders()
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
                    subscription.move(to: address)
                    subscription.validators = Subscription.Validators()
                    subscription.nextPage = nil
                }
            }
            // Without other headers, the present ones stay with the origin that they were given for.
            if givesHeaders, case .feed(let url) = subscription.source { subscription.headersOrigin = url.origin }
            if subscription == before { return try await settled(id) }
            try check(subscription.source, subscription.settings)
            let now = downloads.now
            subscription.touch(at: now)
            if subscription.source != before.source {
                subscription.nextCheckAt = subscription.state == .active ? now : nil
            } else if subscription.schedule != before.schedule, subscription.failures == 0 {
                // After failures, the interval does not depend on the settings.
                subscription.plan(after: min(subscription.checkedAt ?? now, now))
            }
            try await keep(subscription, under: claim)
            if subscription.settings.keep != before.settings.keep, subscription.hasSurplus { expireSoon(id) }
            schedule(id)
            return try durable(id)
        }
    }

    /// Pauses a subscription. When the method returns, that is durable, and nothing is taken any more.
    /// - Throws: `notFound`, `refused`.
    public func pause(_ id: RecordID) async throws(SubscriptionError) -> Subscription {
        try await changing(id, endsCheck: true) { claim throws(SubscriptionError) in
            let known: [String: KnownItem]
            do throws(DownloadError) { known = try await knownItems(of: id) } catch { throw .refused(error) }
            var subscription = try subscription(id)
            guard subscription.state == .active else { return try await settled(id) }
            subscription.state = .paused
            // The check that this pause has ended may have taken some.
            subscription.count(known.values)
            subscription.nextCheckAt = nil
            subscription.touch(at: downloads.now)
            try await keep(subscription, under: claim)
            return try durable(id)
        }
    }

    /// Resumes a paused subscription or one that is gone: takes the items that were found before, and begins a check.
    /// - Throws: `notFound`, `refused`.
    public func resume(_ id: RecordID) async throws(SubscriptionError) -> Subscription {
        try await changing(id, endsCheck: true) { claim throws(SubscriptionError) in
            var subscription = try subscription(id)
            guard subscription.state != .active else { return try await settled(id) }
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
            return try durable(id)
        }
    }

    /// Checks a subscription now, or joins its running check. A pause ends the wait for it.
    /// - Returns: The subscription, and whether the check has ended within 30 seconds.
    /// - Throws: `notFound`.
    public func refresh(_ id: RecordID) async throws(SubscriptionError) -> (Subscription, hasEnded: Bool) {
        _ = try await find(id)
        let outcome = Outcome<Bool>()
        let waiting = Task { outcome.set(await self.refreshed(id)) }
        defer { waiting.cancel() }
        let hasEnded = await withTaskCancellationHandler {
            await outcome.value(within: Limits.answer, orSetting: false)
        } onCancel: {
            outcome.set(false)
        }
        return (try durable(id), hasEnded)
    }

    /// Begins a check, here or on another replica, and waits for its end.
    /// - Returns: Whether its outcome is durable.
    private func refreshed(_ id: RecordID) async -> Bool {
        // A check that has only its commit left does not look any more.
        if let entry = entries[id], entry.hasListed, let last = entry.check { _ = await last.value }
        entries[id]?.isRequested = true
        guard let before = entries[id]?.durable, var check = beginCheck(of: id) else { return false }
        while await !check.value, !Task.isCancelled, let present = entries[id]?.durable,
            present.checkedAt == before.checkedAt, present.state == before.state || present.state != .paused
        {
            try? await Task.sleep(for: Limits.checkPause)
            // While a request changes the subscription, no check begins.
            if let next = beginCheck(of: id) { check = next }
        }
        return entries[id]?.durable?.version != before.version
    }

    /// Removes a subscription and its items. When the method returns, that is durable, and nothing is taken any more.
    /// - Parameters:
    ///   - deletesDownloads: Whether the downloads that it made are removed, too.
    ///   - deletesFiles: Whether their files are removed.
    ///   - isExpected: Whether the subscription is still the version that the client means; `nil` for any version.
    /// - Throws: `notFound`, `preconditionFailed`, `refused`.
    public func remove(
        _ id: RecordID, deletingDownloads deletesDownloads: Bool = false, files deletesFiles: Bool = false,
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
                // The commit may outlast the request. No check begins, and nothing is saved, before it has ended.
                entries[id]?.holds += 1
                entries[id]?.isEnding = true
                try await downloads.commit(claim.guarding(.remove(id))) { await self.settleRemoval(of: id, $0) }
            } catch {
                throw .refused(error)
            }
        }
    }

    private func settleRemoval(of id: RecordID, _ error: DownloadError?) {
        entries[id]?.isEnding = false
        if error != nil { release(id) } else { forget(id) }
    }

    func keep(_ subscription: Subscription, under claim: SubscriptionClaim) async throws(SubscriptionError) {
        do throws(DownloadError) {
            try await save(subscription, under: claim)
        } catch {
            throw .refused(error)
        }
    }
}
