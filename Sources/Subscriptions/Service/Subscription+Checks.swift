internal import Catalog
internal import DownloadCore
internal import HTTPCore

/// The state of a subscription after a check, and the downloads that it makes.
extension Subscription {
    /// Returns a request for the download of an item; a refusal if it has nothing to download.
    func download(of details: ItemDetails, labels: [String]? = nil) -> Result<NewDownload, Problem> {
        guard let url = details.item.downloadUrl.flatMap({ HTTPURL($0) }) else {
            return .failure(Problem(.notFound, "'\(details.name)' has no URL to download"))
        }
        var options = settings.options
        options.labels = labels ?? options.labels
        options.headers = headers(for: url)
        return .success(
            NewDownload(of: details.item, at: url, track: details.track, options, naming: settings.naming))
    }

    /// Returns the header fields for the file of an item.
    func headers(for url: HTTPURL) -> RequestHeaders {
        // The files of a catalogue's work are on several hosts. The first host of each download gets the headers.
        let isOwn = if case .feed = source { url.origin == headersOrigin } else { true }
        return RequestHeaders(settings.options.headers.filter { isOwn || $0.isHarmless })
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
        checkedAt = now
    }

    /// Notes a listing whose items are durable.
    mutating func accept(_ listing: CheckOutcome.Listing, at now: Timestamp, hasChanges: Bool) {
        hint = listing.hint
        validators = listing.validators
        warnings = listing.warnings
        listedAt = now
        nextPage = listing.nextPage
        backlogEnd = nil
        if hasChanges || changedAt == nil { changedAt = now }
        hasListing = hasListing || listing.isComplete
        let former = name
        name = listing.name ?? name
        if let work = listing.work { (artist, artworkUrl, pageUrl) = (work.artist, work.artworkUrl, work.pageUrl) }
        if let address = listing.address, move(to: address) {
            touch(at: now)
        } else if name != former {
            touch(at: now)
        }
        succeed(hint: nil, at: now)
    }

    /// Gives the feed a new address, and remembers the former one.
    /// - Returns: Whether the address is another one.
    @discardableResult
    mutating func move(to address: HTTPURL) -> Bool {
        guard case .feed(let old) = source, address != old else { return false }
        source = .feed(address)
        let others = formerAddresses.filter { $0 != old.string && $0 != address.string }
        formerAddresses = (others + [old.string]).suffix(SubscriptionService.Limits.addresses)
        return true
    }

    /// Notes a failed check.
    mutating func fail(_ failure: Failure, retryAfter: Int64? = nil, at now: Timestamp) {
        failures += 1
        self.failure = failure
        plan(after: now, atLeast: retryAfter)
        checkedAt = now
    }

    /// Plans the check after one at this time. A subscription that is not active has none.
    mutating func plan(after now: Timestamp, atLeast seconds: Int64? = nil) {
        var schedule = schedule
        if failures > 0 { schedule.hint = seconds }
        nextCheckAt =
            state == .active
            ? schedule.next(after: now, planned: checkedAt.flatMap { _ in nextCheckAt ?? now }, random: Double.random(in: 0..<1))
            : nil
    }

    /// Notes a change of settings, state or name.
    mutating func touch(at now: Timestamp) {
        updatedAt = now
        revision += 1
    }
}
