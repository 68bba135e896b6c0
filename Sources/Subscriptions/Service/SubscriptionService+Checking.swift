internal import Catalog
internal import DownloadCore
internal import DownloadIndex
internal import Downloads
internal import HTTPCore

/// The checks of subscriptions.
extension SubscriptionService {
    /// Checks a subscription. Its record tells the outcome.
    /// - Parameter plan: The time for which it was planned. It is omitted if another replica has planned the next one in the
    ///   meantime. `nil`: It was not planned.
    /// - Returns: False if it was omitted, or another replica has the claim.
    func check(_ id: RecordID, plan: Timestamp?) async -> Bool {
        defer {
            planRequests(of: id)
            endCheck(of: id)
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
        if let plan, subscription.nextCheckAt != plan { return false }
        let readsAll = CheckSchedule.readsAll(after: subscription.listedAt, now: downloads.now)
        var outcome = await list(subscription, isConditional: !(entries[id]?.isRequested ?? false || readsAll))
        if case .unchanged = outcome, entries[id]?.isRequested ?? false {
            // A user has joined this check.
            outcome = await list(subscription, isConditional: false)
        }
        entries[id]?.hasListed = true
        if Task.isCancelled { return false }
        let isRequested = entries[id]?.isRequested ?? false
        entries[id]?.isRequested = false
        do throws(DownloadError) {
            try await conclude(id, outcome, under: claim)
            if isRequested { try await requestMissing(id, under: claim, isRequested: true) }
        } catch {
            // Another replica has taken the claim away, for a change after which the subscription is checked again.
            if error == .preconditionFailed {
                block(id)
                return false
            }
            // Nothing may be durable. The next check finds the same items again.
            guard !Task.isCancelled, var failed = entries[id]?.subscription else { return true }
            failed.fail(Subscription.Failure(problem: error.problem.code, message: error.description), at: downloads.now)
            do throws(DownloadError) { try await save(failure: failed, under: claim) } catch {
                // Without a record of the failure, the check is still due.
                block(id, for: .seconds(failed.schedule.interval))
            }
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

    /// Lists the work of a subscription. Others that wait may end it.
    /// - Parameter isConditional: Whether a server may answer that nothing has changed.
    private func list(_ subscription: Subscription, isConditional: Bool) async -> CheckOutcome {
        let begun = ContinuousClock.now
        let listing = Task { [client, destinationGuard, catalog] in
            switch subscription.source {
            case .feed(let url):
                await FeedFetch(
                    client: client, destinationGuard: destinationGuard, subscription: subscription,
                    isConditional: isConditional
                ).run(url)
            case .work(let work): await WorkListing.parts(of: work, formats: subscription.settings.formats, in: catalog)
            case .search(let term): await WorkListing.results(of: term, in: catalog)
            }
        }
        entries[subscription.id]?.listing = listing
        let outcome = await withTaskCancellationHandler {
            await listing.value
        } onCancel: {
            listing.cancel()
        }
        entries[subscription.id]?.listing = nil
        guard listing.isCancelled, !Task.isCancelled else { return outcome }
        let seconds = begun.duration(to: .now).components.seconds
        return .failed(
            Subscription.Failure(
                problem: .upstreamTimeout,
                message: "There was no whole listing after \(seconds) seconds, and other checks waited."
            ),
            retryAfter: nil)
    }

    private func conclude(
        _ id: RecordID, _ outcome: CheckOutcome, under claim: SubscriptionClaim
    ) async throws(DownloadError) {
        guard var subscription = entries[id]?.subscription else { return }
        let now = downloads.now
        switch outcome {
        case .unchanged(let hint):
            let failures = subscription.failures
            subscription.succeed(hint: hint, at: now)
            try await save(subscription, under: claim)
            // An earlier check could not take them.
            guard subscription.state == .active, subscription.items[.new] > 0,
                let failure = try await takeNewItems(of: subscription, under: claim),
                !Task.isCancelled, var failed = entries[id]?.subscription
            else {
                log(.checked(subscription, taken: 0))
                break
            }
            failed.failures = failures
            failed.fail(failure, at: now)
            try await save(failure: failed, under: claim)
            log(.failed(failed))
        case .gone:
            // The user's pause holds.
            if subscription.state != .paused { subscription.state = .gone }
            subscription.checkedAt = now
            subscription.nextCheckAt = nil
            subscription.failures += 1
            subscription.failure = Subscription.Failure(message: "The feed has ended (status 410).", httpStatus: 410)
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
                subscription.fail(Subscription.Failure(problem: .duplicate, message: message), at: now)
                try await save(failure: subscription, under: claim)
                return log(.failed(subscription))
            }
            for warning in listing.warnings where !subscription.warnings.contains(warning) {
                log(.warning("the listing of subscription \(id) has a fault: \(warning)"))
            }
            try await apply(listing, to: subscription, now, under: claim)
        }
        if entries[id]?.subscription.hasSurplus ?? false { try await expire(id, under: claim) }
    }

    /// Makes the changes of a listing durable in groups, and at the end the subscription.
    private func apply(
        _ listing: CheckOutcome.Listing, to subscription: Subscription, _ now: Timestamp, under claim: SubscriptionClaim
    ) async throws(DownloadError) {
        var subscription = subscription
        var listing = listing
        let id = subscription.id
        var known = try await knownItems(of: id)
        if let horizon = subscription.horizon { subscription.horizon = min(horizon, now) }
        // A clock was ahead when they were found.
        let corrected = known.values.filter { $0.date > now }.map(\.key)
        for key in corrected { known[key]?.date = now }
        let rules = ListingDecision.Rules(
            take: subscription.settings.take, filter: subscription.settings.filter, isPaused: subscription.state == .paused,
            isFirst: !subscription.hasListing, createdAt: min(subscription.createdAt, now), horizon: subscription.horizon,
            backlogEnd: subscription.backlogEnd)
        var identity = await Self.identity(listing, known)
        let suspects = try await listedItems(identity.suspects, of: id)
        let decision = await Self.decision(&listing, known, &identity, suspects, rules, now)
        if Task.isCancelled { return }
        let renewed = await renewed(decision.renewed.map { listing.items[$0] }, of: subscription, known)
        var taken = 0
        var failure: Subscription.Failure?
        for start in stride(from: 0, to: decision.taken.count, by: Limits.group) {
            let some = decision.taken[start..<min(start + Limits.group, decision.taken.count)].map { offset in
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
            // During the commit, the subscription may have been paused or removed.
            if Task.isCancelled { return }
        }
        var rows: [(item: KnownItem, offset: Int?)] = decision.kept.map { ($0.item, $0.offset) }
        for offset in decision.moved {
            let (listed, details) = listing.items[offset]
            guard var item = known[listed.key] else { continue }
            await redirect(item, of: subscription, to: listed.url, details.item.authorization)
            item.url = listed.url
            known[item.key] = item
            rows.append((item, offset))
        }
        let hasRows = !rows.isEmpty
        rows += corrected.compactMap { known[$0] }.map { ($0, nil) }
        for row in rows { known[row.item.key] = row.item }
        let records = { (some: ArraySlice<(item: KnownItem, offset: Int?)>) in
            some.map { StoreChange.subscription(.saveItem($0.item.stored(of: id, $0.offset.map { listing.items[$0].details }))) }
        }
        while rows.count > Limits.group {
            let group = records(rows.prefix(Limits.group))
            if let end = decision.backlogEnd, var marked = entries[id]?.subscription, marked.backlogEnd == nil {
                // After a crash, the known items would not show where the backlog is.
                marked.backlogEnd = end
                try await save(marked, under: claim, with: group)
            } else {
                try await downloads.commit(claim.guarding(with: group))
            }
            rows.removeFirst(Limits.group)
            if Task.isCancelled { return }
        }
        let listed = Set(listing.items.map(\.listed.key))
        if let cut = listing.cut { subscription.horizon = max(subscription.horizon ?? cut, min(cut, now)) }
        let forgotten = forget(&known, listed: listed, &subscription)
        // Settings may have changed while downloads were added.
        guard let current = entries[id]?.subscription else { return }
        let horizon = subscription.horizon
        subscription = current
        subscription.horizon = horizon
        subscription.accept(listing, at: now, hasChanges: taken > 0 || hasRows || !forgotten.isEmpty)
        subscription.count(known.values)
        try await save(subscription, under: claim, with: records(rows[...]))
        // Without a record, an item counts as seen only once the horizon is durable.
        for start in stride(from: 0, to: forgotten.count, by: Limits.group) {
            try await downloads.commit(claim.guarding(with: Array(forgotten[start..<min(start + Limits.group, forgotten.count)])))
        }
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
        _ listing: inout CheckOutcome.Listing, _ known: [String: KnownItem], _ identity: inout ItemIdentity,
        _ suspects: [ListedItem], _ rules: ListingDecision.Rules, _ now: Timestamp
    ) async -> ListingDecision {
        identity.resolve(suspects)
        for (offset, item) in identity.listing.enumerated() { listing.items[offset].listed.key = item.key }
        return ListingDecision(of: identity.listing, known: known, rules, now: now) { Task.isCancelled }
    }

    @concurrent private static func identity(
        _ listing: CheckOutcome.Listing, _ known: [String: KnownItem]
    ) async -> ItemIdentity {
        ItemIdentity(of: listing.items.map(\.listed), known: known)
    }

    /// Returns items as their last listings had them.
    private func listedItems(_ keys: Set<String>, of id: RecordID) async throws(DownloadError) -> [ListedItem] {
        if keys.isEmpty { return [] }
        return try await downloads.items(ItemQuery(of: id)).compactMap { row in
            keys.contains(row.key) ? ItemDetails(decoding: row.body, besides: row.url)?.listed(key: row.key) : nil
        }
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
            changes.append(.subscription(.dropItem(subscription.id, key: item.key)))
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
    func knownItems(of id: RecordID) async throws(DownloadError) -> [String: KnownItem] {
        var query = ItemQuery(of: id)
        query.includesBodies = false
        var known: [String: KnownItem] = [:]
        for item in try await downloads.items(query).compactMap(KnownItem.init) { known[item.key] = item }
        return known
    }

    // MARK: - Taking

    /// Makes downloads of items, and their records, in one commit.
    /// - Parameter renewed: The keys of items with the address of a present download, and another file.
    /// - Returns: The records, and the failure to list the parts of a work or to use a folder; `nil`: there was none. Such an
    ///   item is new, until a check can take it. An item without anything to download is skipped.
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
        var requests = items.map { item, details in
            subscription.download(of: details).map { download in
                var download = download
                if renewed.contains(item.key) { download.onDuplicate = .new }
                return download
            }
        }
        let obstacles = await downloads.obstacles(toFolders: Set(requests.compactMap { try? $0.get().folder }))
        let blocked = requests.map { request in (try? request.get().folder).flatMap { obstacles[$0] } }
        for (offset, obstacle) in blocked.enumerated() {
            if let obstacle { requests[offset] = .failure(Problem(.invalidRequest, obstacle)) }
        }
        let records = { @Sendable (outcomes: [Addition.Outcome]) in
            outcomes.indices.map { offset in
                let (item, details) = items[offset]
                return (blocked[offset] == nil ? item.taken(outcomes[offset]) : item.waiting, details)
            }
        }
        let outcomes = try await downloads.add(requests, label: subscription.label) { outcomes in
            claim.guarding(with: records(outcomes).map { .subscription(.saveItem($0.stored(of: subscription.id, $1))) })
        }
        let failure = blocked.lazy.compactMap(\.self).first.map { Subscription.Failure(problem: .invalidRequest, message: $0) }
        return (records(outcomes).map(\.0), failure)
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
            try await downloads.commit(claim.guarding(.saveItem(left.stored(of: subscription.id, details))))
            if left.state == .new, case .failed(let failure, _) = listing { return (left, failure) }
            return (left, nil)
        }
        let labels = (subscription.settings.options.labels ?? []) + [details.item.id].compactMap(\.self)
        let requests = listing.items.map { subscription.download(of: $0.details, labels: labels) }
        let folders = requests.compactMap { try? $0.get().folder }
        if let obstacle = await downloads.obstacles(toFolders: Set(folders)).values.first {
            try await downloads.commit(claim.guarding(.saveItem(work.waiting.stored(of: subscription.id, details))))
            return (work.waiting, Subscription.Failure(problem: .invalidRequest, message: obstacle))
        }
        let record = { @Sendable (outcomes: [Addition.Outcome]) in
            // An item has no more than one download.
            guard let any = outcomes.first(where: { (try? $0.get()) != nil }) ?? outcomes.first else { return work }
            var taken = work.taken(any)
            if outcomes.count > 1 { (taken.download, taken.isMade) = (nil, false) }
            return taken
        }
        let outcomes = try await downloads.add(requests, label: subscription.label) { outcomes in
            claim.guarding(.saveItem(record(outcomes).stored(of: subscription.id, details)))
        }
        return (record(outcomes), nil)
    }

    // MARK: - Expiry

    /// Whether a taken item holds a download. Its file must stay then.
    /// - Parameter isLeftOut: Whether an item does not count.
    func isHeld(
        _ download: RecordID, besides isLeftOut: (StoredItem) -> Bool
    ) async throws(DownloadError) -> Bool {
        var holders = ItemQuery(ofDownload: download)
        holders.includesBodies = false
        return try await downloads.items(holders).contains {
            // The items of a removed subscription stay for a while. Another replica's may not be known yet.
            let isKept = downloads.isShared || entries[$0.subscription] != nil
            return $0.state == ItemState.taken.rawValue && isKept && !isLeftOut($0)
        }
    }

    /// Removes the downloads and files of the items that make room for newer ones. Notes the downloads in transfer, after
    /// whose end others make room.
    private func expire(_ id: RecordID, under claim: SubscriptionClaim) async throws(DownloadError) {
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
        let expired = Expiry.expired(items, keep: keep).compactMap { known[$0] }
        if expired.isEmpty { return }
        let keys = Set(expired.map(\.key))
        var failure: DownloadError?
        do throws(DownloadError) {
            for item in expired where !Task.isCancelled { try await expire(item, of: id, with: keys, claim) }
        } catch {
            failure = error
        }
        try await recount(id, under: claim)
        if let failure { throw failure }
    }

    /// Removes the download and the file of an item in the commit that notes its expiry.
    /// - Parameter others: The keys of all items of the subscription that expire.
    private func expire(
        _ item: KnownItem, of id: RecordID, with others: Set<String>, _ claim: SubscriptionClaim
    ) async throws(DownloadError) {
        guard let download = item.download else { return }
        var item = item
        item.state = .expired
        let changes = claim.guarding(.saveItem(item.stored(of: id, nil)))
        let isShared = try await isHeld(download) { $0.subscription == id && others.contains($0.key) }
        do throws(DownloadError) {
            if !isShared { return try await downloads.remove(download, deletingFile: true, with: changes) }
        } catch .notFound {
        } catch .overloaded {
            // Another replica may have it for a moment.
            return expireSoon(id)
        }
        try await downloads.commit(changes)
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

    private func expire(_ id: RecordID) async {
        defer { endCheck(of: id) }
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
    func stored(of subscription: RecordID, _ details: ItemDetails?) -> StoredItem {
        StoredItem(
            subscription: subscription, key: key, date: date.millisecondsSinceEpoch, state: state.rawValue,
            reason: reason?.rawValue, url: url, download: download, isMade: isMade, isByHand: isByHand,
            body: details?.encoded(besides: url) ?? [])
    }

    /// The record of an item that a later check takes.
    fileprivate var waiting: KnownItem {
        var item = self
        (item.state, item.reason) = (.new, nil)
        return item
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
        case .failure(let problem):
            item.state = .skipped
            item.reason = problem.code == .destinationForbidden ? .destinationForbidden : .empty
        }
        return item
    }
}
