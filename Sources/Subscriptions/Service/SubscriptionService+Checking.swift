internal import Catalog
internal import DownloadCore
internal import DownloadFeed
internal import Downloads
internal import HTTPCore

/// The checks of subscriptions.
extension SubscriptionService {
    /// Checks a subscription. Its record tells the outcome.
    /// - Parameter isScheduled: Whether the check is omitted if another replica has checked the subscription meanwhile.
    /// - Returns: False if it was omitted, or another replica has the claim.
    func check(_ id: DownloadID, isScheduled: Bool) async -> Bool {
        defer {
            entries[id]?.check = nil
            listed[id] = nil
            schedule()
        }
        guard await acquireSlot(id) else { return false }
        let claim: SubscriptionClaim?
        do throws(DownloadError) { claim = try await self.claim(id, forced: false) } catch { claim = nil }
        guard let claim else {
            block(id)
            return false
        }
        defer { endClaim(of: id) }
        guard let subscription = entries[id]?.subscription, !Task.isCancelled else { return false }
        if isScheduled, subscription.nextCheckAt.map({ $0 > downloads.now }) ?? true { return false }
        let outcome = await list(subscription)
        if Task.isCancelled { return false }
        do throws(DownloadError) {
            try await conclude(id, outcome, under: claim)
        } catch {
            // Another replica has taken the claim away, for a change after which the subscription is checked again.
            if error == .preconditionFailed {
                block(id)
                return false
            }
            // Nothing may be durable. The next check finds the same items again.
            guard !Task.isCancelled, var failed = entries[id]?.subscription else { return true }
            failed.fail(Subscription.Failure(code: Addition.Refusal(error).code, message: error.description), at: downloads.now)
            entries[id]?.subscription = failed
            try? await save(failure: failed, under: claim)
            log(.failed(failed))
        }
        return true
    }

    /// Saves a subscription whose check has failed. The commit has the messages to the default webhooks if this is the
    /// first failure since a success.
    private func save(failure failed: Subscription, under claim: SubscriptionClaim) async throws(DownloadError) {
        let deliveries =
            failed.failures == 1
            ? await downloads.deliveries(.subscriptionFailed, about: failed.id, data: resource(failed)) : []
        try await save(failed, under: claim, with: deliveries.map(StoreChange.keepDelivery))
    }

    /// Waits until fewer than ``Limits/checks`` checks run, and none of the same host.
    /// - Returns: False if the check was cancelled meanwhile.
    private func acquireSlot(_ id: DownloadID) async -> Bool {
        while let host = entries[id]?.subscription.host, !Task.isCancelled {
            if listed.count < Limits.checks, !listed.values.contains(host) {
                listed[id] = host
                return true
            }
            try? await Task.sleep(for: Limits.slotPause)
        }
        return false
    }

    /// Lists the work of a subscription.
    private func list(_ subscription: Subscription) async -> CheckOutcome {
        switch subscription.source {
        case .feed(let url):
            await FeedFetch(client: client, destinationGuard: destinationGuard, subscription: subscription).run(url)
        case .work(let work): await WorkListing.parts(of: work, formats: subscription.settings.formats, in: catalog)
        case .search(let term): await WorkListing.results(of: term, in: catalog)
        }
    }

    private func conclude(
        _ id: DownloadID, _ outcome: CheckOutcome, under claim: SubscriptionClaim
    ) async throws(DownloadError) {
        guard var subscription = entries[id]?.subscription else { return }
        let now = downloads.now
        switch outcome {
        case .unchanged(let hint):
            subscription.succeed(hint: hint, at: now)
            try await save(subscription, under: claim)
            log(.checked(subscription, taken: 0))
        case .gone:
            // The user's pause holds.
            if subscription.state != .paused { subscription.state = .gone }
            subscription.checkedAt = now
            subscription.nextCheckAt = nil
            subscription.failures += 1
            subscription.failure = Subscription.Failure(code: "gone", message: "The feed has ended (status 410).")
            subscription.touch(at: now)
            try await save(failure: subscription, under: claim)
            log(.failed(subscription))
        case .failed(let failure, let retryAfter):
            subscription.fail(failure, retryAfter: retryAfter, at: now)
            try await save(failure: subscription, under: claim)
            log(.failed(subscription))
        case .listed(let listing):
            if let address = listing.address, let other = existing(for: .feed(address)), other.id != id {
                // Both subscriptions would take every item.
                let message = "The feed at this address is that of another subscription, \(other.id)."
                subscription.fail(Subscription.Failure(code: "duplicate", message: message), at: now)
                try await save(failure: subscription, under: claim)
                return log(.failed(subscription))
            }
            try await apply(listing, to: subscription, now, under: claim)
        }
        if entries[id]?.subscription.hasSurplus ?? false { try await expire(id, under: claim) }
    }

    /// Makes the changes of a listing durable: downloads of new items in groups, and at the end the subscription.
    private func apply(
        _ listing: CheckOutcome.Listing, to subscription: Subscription, _ now: Timestamp, under claim: SubscriptionClaim
    ) async throws(DownloadError) {
        var subscription = subscription
        var listing = listing
        let id = subscription.id
        var known = try await knownItems(of: id)
        let rules = ListingDecision.Rules(
            take: subscription.settings.take, filter: subscription.settings.filter, isPaused: subscription.state == .paused,
            isFirst: !subscription.hasListing, createdAt: subscription.createdAt, horizon: subscription.horizon)
        let decision = await Self.decision(&listing, known, rules, now)
        if Task.isCancelled { return }
        let renewed = Set(decision.renewed.map { listing.items[$0].listed.key })
        var taken = 0
        var failure: Subscription.Failure?
        for start in stride(from: 0, to: decision.taken.count, by: Limits.taken) {
            let some = decision.taken[start..<min(start + Limits.taken, decision.taken.count)].map { offset in
                let item = listing.items[offset]
                return (
                    KnownItem(
                        key: item.listed.key, date: known[item.listed.key]?.date ?? decision.dates[offset], state: .taken,
                        url: item.listed.url), item.details
                )
            }
            let outcome = try await take(some, for: subscription, renewed: renewed, under: claim)
            failure = failure ?? outcome.failure
            for item in outcome.items {
                known[item.key] = item
                if item.state == .taken { taken += 1 }
            }
            // The subscription may have been paused or removed meanwhile.
            if Task.isCancelled { return }
        }
        var changes: [StoreChange] = []
        for (offset, item) in decision.kept {
            known[item.key] = item
            changes.append(.saveItem(item.stored(of: id, listing.items[offset].details)))
        }
        for offset in decision.moved {
            let (listed, details) = listing.items[offset]
            guard var item = known[listed.key] else { continue }
            await redirect(item, of: subscription, to: listed.url, details.item.authorization)
            item.url = listed.url
            known[item.key] = item
            changes.append(.saveItem(item.stored(of: id, details)))
        }
        let listed = Set(listing.items.map(\.listed.key))
        changes += forget(&known, listed: listed, &subscription)
        // Settings may have changed while downloads were added.
        guard let current = entries[id]?.subscription else { return }
        let horizon = subscription.horizon
        subscription = current
        subscription.horizon = horizon
        subscription.accept(listing, at: now, hasChanges: taken > 0 || !changes.isEmpty)
        subscription.count(known.values)
        try await save(subscription, under: claim, with: changes)
        // An earlier check could not take them, and the listing has them no more.
        if subscription.state == .active, known.values.contains(where: { $0.state == .new && !listed.contains($0.key) }) {
            failure = try await takeNewItems(of: subscription, besides: listed, under: claim) ?? failure
        }
        guard let failure, !Task.isCancelled, var failed = entries[id]?.subscription else {
            return log(.checked(subscription, taken: taken))
        }
        // A check that takes some of many works does not delay the next one.
        if taken == 0 { failed.failures = current.failures }
        failed.fail(failure, at: now)
        try await save(failure: failed, under: claim)
        log(.failed(failed))
    }

    /// Decides about a listing without blocking the service: patterns may take long.
    @concurrent private static func decision(
        _ listing: inout CheckOutcome.Listing, _ known: [String: KnownItem], _ rules: ListingDecision.Rules, _ now: Timestamp
    ) async -> ListingDecision {
        var items = listing.items.map(\.listed)
        ListingDecision.identify(&items, known: known)
        for offset in items.indices { listing.items[offset].listed.key = items[offset].key }
        return ListingDecision(of: items, known: known, rules, now: now) { Task.isCancelled }
    }

    /// Forgets the oldest items beyond the limit that the listing does not have. The horizon takes their place.
    private func forget(
        _ known: inout [String: KnownItem], listed: Set<String>, _ subscription: inout Subscription
    ) -> [StoreChange] {
        let excess = known.count - Limits.items
        guard excess > 0 else { return [] }
        let oldest = known.values.filter { !listed.contains($0.key) }.sorted { ($0.date, $0.key) < ($1.date, $1.key) }
        var changes: [StoreChange] = []
        for item in oldest.prefix(excess) {
            known[item.key] = nil
            subscription.horizon = max(subscription.horizon ?? item.date, item.date)
            changes.append(.dropItem(subscription.id, key: item.key))
        }
        return changes
    }

    /// Gives a download that has not finished the new address of its item.
    private func redirect(
        _ item: KnownItem, of subscription: Subscription, to address: String?, _ authorization: String?
    ) async {
        guard item.state == .taken, item.isMade, let id = item.download, let url = address.flatMap({ HTTPURL($0) }),
            let download = downloads.index.download(id), download.state != .completed
        else { return }
        var change = DownloadChange()
        change.url = url
        change.headers = subscription.headers(for: url)
        // The fields of the subscription come first.
        if let authorization { try? change.headers.authorize(authorization) }
        // A refusal leaves the old address, with which the download may still succeed.
        _ = try? await downloads.change(id, change)
        if download.state == .failed { _ = try? await downloads.perform(.retry, on: id) }
    }

    /// Returns the records of all items by key.
    func knownItems(of id: DownloadID) async throws(DownloadError) -> [String: KnownItem] {
        var query = ItemQuery(of: id)
        query.includesBodies = false
        var known: [String: KnownItem] = [:]
        for item in try await downloads.items(query).compactMap(KnownItem.init) { known[item.key] = item }
        return known
    }

    // MARK: - Taking

    /// Makes downloads of items, and their records, in one commit.
    /// - Parameter renewed: The keys of items with the address of a present download, and another file.
    /// - Returns: The records, and the failure to list the parts of a work; `nil`: there was none. An item without anything
    ///   to download is skipped.
    func take(
        _ items: [(item: KnownItem, details: ItemDetails)], for subscription: Subscription, renewed: Set<String> = [],
        under claim: SubscriptionClaim
    ) async throws(DownloadError) -> (items: [KnownItem], failure: Subscription.Failure?) {
        if case .search = subscription.source {
            var taken: [KnownItem] = []
            var failure: Subscription.Failure?
            for (item, details) in items {
                let outcome = try await take(work: item, details, for: subscription, under: claim)
                taken.append(outcome.item)
                failure = failure ?? outcome.failure
            }
            return (taken, failure)
        }
        let requests = items.map { item, details in
            subscription.download(of: details).map { download in
                var download = download
                if renewed.contains(item.key) { download.onDuplicate = .new }
                return download
            }
        }
        let records = { @Sendable (outcomes: [Addition.Outcome]) in
            zip(items, outcomes).map { ($0.item.taken($1), $0.details) }
        }
        let outcomes = try await downloads.add(requests, label: subscription.label) { outcomes in
            claim.guarding(records(outcomes).map { .saveItem($0.stored(of: subscription.id, $1)) })
        }
        return (records(outcomes).map(\.0), nil)
    }

    /// Makes downloads of all parts of a work that a search has found. A work stays new if its source did not say that it has
    /// no parts, or the check was cancelled. The next check takes it.
    private func take(
        work: KnownItem, _ details: ItemDetails, for subscription: Subscription, under claim: SubscriptionClaim
    ) async throws(DownloadError) -> (item: KnownItem, failure: Subscription.Failure?) {
        let listing = await WorkListing.parts(
            of: details.item.id ?? "", formats: subscription.settings.formats, in: catalog)
        guard case .listed(let listing) = listing, !listing.items.isEmpty else {
            var left = work
            left.reason = listing.skipReason
            left.state = left.reason == nil ? .new : .skipped
            try await downloads.commit(claim.guarding([.saveItem(left.stored(of: subscription.id, details))]))
            if left.state == .new, case .failed(let failure, _) = listing { return (left, failure) }
            return (left, nil)
        }
        let labels = subscription.settings.labels + [details.item.id].compactMap(\.self).filter { DownloadLimits.isLabel($0) }
        let requests = listing.items.map { subscription.download(of: $0.details, labels: labels) }
        let record = { @Sendable (outcomes: [Addition.Outcome]) in
            // An item has no more than one download.
            guard let any = outcomes.first(where: { (try? $0.get()) != nil }) ?? outcomes.first else { return work }
            var taken = work.taken(any)
            if outcomes.count > 1 { (taken.download, taken.isMade) = (nil, false) }
            return taken
        }
        let outcomes = try await downloads.add(requests, label: subscription.label) { outcomes in
            claim.guarding([.saveItem(record(outcomes).stored(of: subscription.id, details))])
        }
        return (record(outcomes), nil)
    }

    // MARK: - Expiry

    /// Whether a taken item holds a download. Its file must stay then.
    /// - Parameter isLeftOut: Whether an item does not count.
    func isHeld(
        _ download: DownloadID, besides isLeftOut: (StoredItem) -> Bool
    ) async throws(DownloadError) -> Bool {
        var holders = ItemQuery(ofDownload: download)
        holders.includesBodies = false
        return try await downloads.items(holders).contains { $0.state == ItemState.taken.rawValue && !isLeftOut($0) }
    }

    /// Removes the downloads and files of the items that make room for newer ones. Notes the downloads in transfer, after
    /// whose end others make room.
    private func expire(_ id: DownloadID, under claim: SubscriptionClaim) async throws(DownloadError) {
        entries[id]?.awaited = nil
        guard let keep = entries[id]?.subscription.settings.keep else { return }
        let known = try await knownItems(of: id)
        let items = known.values.filter { $0.state == .taken }.map { item in
            (item, item.download.flatMap { downloads.index.download($0) }.map(Expiry.Holding.init) ?? .ended)
        }
        let live = items.filter { $0.1 == .live }.compactMap(\.0.download)
        if !live.isEmpty {
            entries[id]?.awaited = live
            watchExpiry()
        }
        let expired = Expiry.expired(items, keep: keep)
        if expired.isEmpty { return }
        let expiring = Set(expired)
        for key in expired {
            guard var item = known[key], let download = item.download, !Task.isCancelled else { continue }
            let isShared = try await isHeld(download) { $0.subscription == id && expiring.contains($0.key) }
            if !isShared {
                do throws(DownloadError) {
                    try await downloads.remove(download, deletingFile: true)
                } catch .notFound {}
            }
            item.state = .expired
            try await downloads.commit(claim.guarding([.saveItem(item.stored(of: id, nil))]))
        }
        let left = try await knownItems(of: id)
        guard var subscription = entries[id]?.subscription else { return }
        subscription.count(left.values)
        try await save(subscription, under: claim)
    }
}

/// Files make room as soon as newer ones are finished, not only at the next check.
extension SubscriptionService {
    /// Lets files make room while downloads end for which others wait.
    func watchExpiry() {
        guard expiryWatch == nil else { return }
        expiryWatch = Task { [weak self] in
            repeat {
                do { try await Task.sleep(for: Limits.expiryPause) } catch { return }
            } while await self?.expireEnded() ?? false
        }
    }

    /// Starts the expiry of the subscriptions that have waited for a download that has ended.
    /// - Returns: Whether some wait.
    private func expireEnded() -> Bool {
        for (id, entry) in entries where entry.check == nil && entry.holds == 0 {
            guard let awaited = entry.awaited,
                awaited.isEmpty || awaited.contains(where: { downloads.index.download($0)?.state.isLive != true })
            else { continue }
            // As a check, which ends before a change.
            entry.check = Task { [weak self] in
                await self?.expire(id)
                return false
            }
        }
        let isWaiting = entries.values.contains { $0.awaited != nil }
        if !isWaiting { expiryWatch = nil }
        return isWaiting
    }

    private func expire(_ id: DownloadID) async {
        defer {
            entries[id]?.check = nil
            schedule()
        }
        do throws(DownloadError) {
            guard let claim = try await self.claim(id, forced: false) else { return }
            defer { endClaim(of: id) }
            try await expire(id, under: claim)
        } catch {
            // The next check does it.
            entries[id]?.awaited = nil
        }
    }
}

extension Expiry.Holding {
    fileprivate init(_ download: Download) {
        self = download.state.isLive ? .live : download.state == .completed ? .finished : .ended
    }
}

// MARK: - Records

extension KnownItem {
    init?(_ stored: StoredItem) {
        guard let state = ItemState(rawValue: stored.state) else { return nil }
        self.init(
            key: stored.key, date: Timestamp(millisecondsSinceEpoch: stored.date), state: state,
            reason: stored.reason.flatMap(SkipReason.init), url: stored.url)
        download = stored.download
        isMade = stored.isMade
        isByHand = stored.isByHand
    }

    /// Returns the row. Without details, the stored ones stay.
    func stored(of subscription: DownloadID, _ details: ItemDetails?) -> StoredItem {
        StoredItem(
            subscription: subscription, key: key, date: date.millisecondsSinceEpoch, state: state.rawValue,
            reason: reason?.rawValue, url: url, download: download, isMade: isMade, isByHand: isByHand,
            body: details?.encoded ?? [])
    }

    /// Returns the record after its addition to the downloads.
    func taken(_ outcome: Addition.Outcome) -> KnownItem {
        var item = self
        item.reason = nil
        switch outcome {
        case .success(.created(let download)):
            (item.state, item.download, item.isMade) = (.taken, download.id, true)
        case .success(.existing(let download)):
            item.isMade = item.isMade && item.download == download.id
            (item.state, item.download) = (.taken, download.id)
        case .failure(let refusal):
            item.state = .skipped
            item.reason = refusal.code == "destination-forbidden" ? .destinationForbidden : .empty
        }
        return item
    }
}

extension Subscription {
    /// Returns a request for the download of an item; a refusal if it has nothing to download.
    fileprivate func download(
        of details: ItemDetails, labels: [String]? = nil
    ) -> Result<NewDownload, Addition.Refusal> {
        guard let url = details.item.downloadUrl.flatMap({ HTTPURL($0) }) else {
            return .failure(Addition.Refusal(code: "not-found", detail: "'\(details.name)' has no URL to download"))
        }
        var new = NewDownload(url: url)
        new.priority = settings.priority
        new.speedLimit = settings.speedLimit
        new.webhook = settings.webhook
        new.labels = labels ?? settings.labels
        new.headers = headers(for: url)
        new.folder = settings.folder ?? ""
        let template = DownloadTemplate(new, choosesFolder: settings.folder != nil, naming: settings.naming)
        return .success(template.download(of: details.item, at: url, track: details.track))
    }

    /// Returns the header fields for the file of an item.
    fileprivate func headers(for url: HTTPURL) -> RequestHeaders {
        // Works of catalogues have files on several hosts, of which each download's first one gets the headers.
        let isOwn = if case .feed = source { url.origin == headersOrigin } else { true }
        return RequestHeaders(settings.headers.filter { isOwn || $0.isHarmless })
    }

    /// Whether more items are taken than are to be kept.
    var hasSurplus: Bool { settings.keep.map { items[.taken] > $0 } ?? false }

    /// Counts the items by state.
    mutating func count(_ known: some Sequence<KnownItem>) {
        items = Counts()
        for item in known { items[item.state] += 1 }
    }

    /// Notes a successful check without a new listing.
    mutating func succeed(hint: Int64?, at now: Timestamp) {
        checkedAt = now
        failures = 0
        failure = nil
        // A response without a feed tells only what its server asks for.
        if let hint { self.hint = max(hint, self.hint ?? 0) }
        if state == .gone {
            // The feed is back.
            state = .active
            touch(at: now)
        }
        plan(after: now)
    }

    /// Notes a listing whose items are durable.
    fileprivate mutating func accept(_ listing: CheckOutcome.Listing, at now: Timestamp, hasChanges: Bool) {
        hint = listing.hint
        validators = listing.validators
        warnings = listing.warnings
        if hasChanges || changedAt == nil { changedAt = now }
        hasListing = hasListing || listing.isComplete
        let former = name
        name = listing.name ?? name
        if let work = listing.work { (artist, artworkUrl, pageUrl) = (work.artist, work.artworkUrl, work.pageUrl) }
        if case .feed(let old) = source, let address = listing.address, address != old {
            source = .feed(address)
            formerAddresses = (formerAddresses.filter { $0 != old.string } + [old.string]).suffix(
                SubscriptionService.Limits.addresses)
            touch(at: now)
        } else if name != former {
            touch(at: now)
        }
        succeed(hint: nil, at: now)
    }

    /// Notes a failed check.
    mutating func fail(_ failure: Failure, retryAfter: Int64? = nil, at now: Timestamp) {
        checkedAt = now
        failures += 1
        self.failure = failure
        plan(after: now, atLeast: retryAfter)
    }

    /// Plans the next check. A subscription that is not active has none.
    mutating func plan(after now: Timestamp, atLeast seconds: Int64? = nil) {
        var schedule = schedule
        if failures > 0 { schedule.hint = seconds }
        nextCheckAt = state == .active ? schedule.next(after: now, random: Double.random(in: 0..<1)) : nil
    }

    /// Notes a change of settings, state or name.
    mutating func touch(at now: Timestamp) {
        updatedAt = now
        revision += 1
    }
}
