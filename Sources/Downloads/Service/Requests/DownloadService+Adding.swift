public import DownloadCore
internal import DownloadIndex
internal import DownloadStore
public import HTTPCore
internal import System

/// The addition of downloads.
extension DownloadService {
    /// Accepts a download. When it returns, the record and the outcome of the request's key are durable.
    /// - Parameters:
    ///   - new: The download to add.
    ///   - key: The request's key, which is reserved; `nil`: none.
    /// - Returns: The new download, or the URL's existing one.
    /// - Throws: `destinationForbidden`, `duplicate` (only if the request rejects duplicates), `gidInUse`, `invalid`,
    ///   `keyMismatch`, `insufficientStorage`, `overloaded`, `unconfirmed` (it may still happen), `shuttingDown`,
    ///   `storeFailed`.
    public func add(_ new: NewDownload, key: RequestKey? = nil) async throws(DownloadError) -> Addition {
        let deadline = ContinuousClock.now + Self.answerLimit
        while true {
            _ = try await prepare([new], label: nil, by: deadline)
            let (addition, drafts) = try plan(new)
            if try await keep(drafts, [.success(addition)], key, by: deadline) { return addition }
            // Another replica has added the URL or used the key first.
            guard let key, let kept = try await sharing?.outcome(of: key)?.outcomes.first else { continue }
            switch kept {
            case .success(let addition): return addition
            case .failure: throw .overloaded
            }
        }
    }

    /// Accepts many downloads. When it returns, their records are durable: all of them or, if it throws, none.
    /// - Parameters:
    ///   - items: The downloads to add, or refusals of earlier checks.
    ///   - label: The label of the work that they belong to; `nil`: none. Existing downloads of the work get it as
    ///     well, and failed or cancelled ones continue. Downloads whose files are gone lose it to the new ones. This
    ///     may have been done even if the method throws.
    ///   - key: The request's key, which is reserved; `nil`: none.
    ///   - keepsOrder: Whether items with the same position keep their order. Otherwise each is inserted there in turn,
    ///     as by separate requests.
    /// - Returns: The outcome of each item, in their order.
    /// - Throws: `keyMismatch`, `insufficientStorage`, `overloaded`, `unconfirmed` (it may still happen),
    ///   `shuttingDown`, `storeFailed`.
    public func add(
        _ items: [Result<NewDownload, Problem>], label: String? = nil, key: RequestKey? = nil,
        keepsOrder: Bool = true
    ) async throws(DownloadError) -> [Addition.Outcome] {
        try await add(items, label: label, key: key, keepsOrder: keepsOrder) { _ in [] }
    }

    /// Accepts many downloads like ``add(_:label:key:keepsOrder:)``, and makes more changes durable in the same commit.
    /// - Parameter changes: Returns the changes that belong to the outcomes.
    package func add(
        _ items: [Result<NewDownload, Problem>], label: String?, key: RequestKey? = nil,
        keepsOrder: Bool = true, with changes: @Sendable ([Addition.Outcome]) -> [StoreChange]
    ) async throws(DownloadError) -> [Addition.Outcome] {
        let deadline = ContinuousClock.now + Self.answerLimit
        while true {
            let prepared = try await prepare(items.compactMap { try? $0.get() }, label: label, by: deadline)
            let (outcomes, drafts) = plan(items, label: label, prepared, keepsOrder: keepsOrder)
            if try await keep(drafts, outcomes, key, with: changes(outcomes), by: deadline) { return outcomes }
            if let key, let kept = try await sharing?.outcome(of: key) { return kept.outcomes }
        }
    }

    /// Waits for everything that decides whether a request is a duplicate: finished files that are examined, and the
    /// commits of first downloads of the same URLs. Prepares the existing downloads of the work with this label.
    /// - Returns: The prepared downloads. They are returned for their URLs, in any state.
    private func prepare(
        _ requests: [NewDownload], label: String?, by deadline: ContinuousClock.Instant
    ) async throws(DownloadError) -> Set<RecordID> {
        guard !isShuttingDown else { throw .shuttingDown }
        guard !store.isCongested else { throw .overloaded }
        let known = requests.filter { $0.onDuplicate != .new && index.hasDownload(ofURL: $0.url.string) }
        if !known.isEmpty {
            // Another replica may have removed the existing download.
            try await catchUp()
            await recogniseFiles(of: Set(known.lazy.map(\.url.string)), by: deadline)
        }
        // Done last, because another request for the same URL may arrive during any other wait.
        var preparation = label.map { WorkPreparation(label: $0) }
        while true {
            let urls = requests.lazy.filter { $0.onDuplicate != .new }.map(\.url.string)
            while let end = urls.compactMap({ self.ledger.urls.end(of: $0) }).first { try await follow(end, by: deadline) }
            guard let steps = preparation?.steps(for: requests, in: index, isCurrent: isCurrent), !steps.isEmpty else { break }
            for start in stride(from: 0, to: steps.count, by: Self.bulkPiece) {
                _ = try await ask(steps[start...].prefix(Self.bulkPiece), by: deadline)
            }
        }
        guard !isShuttingDown else { throw .shuttingDown }
        return preparation?.prepared ?? []
    }

    /// Finds a finished file for each URL, newest first, and records which files are missing or have returned.
    ///
    /// At most ``WorkParts/candidateLimit`` files are examined for each URL. A download with a missing file is no candidate any more.
    private func recogniseFiles(of urls: Set<String>, by deadline: ContinuousClock.Instant) async {
        var changes: [(DownloadMachine.Command.Request, RecordID)] = []
        for url in urls {
            for download in index.downloads(ofURL: url, atMost: WorkParts.candidateLimit) {
                if download.state.isLive { break }
                guard let file = download.published else { continue }
                if hasFile(download) { break }
                do throws(FinishedFileError) {
                    let found = try await recognise(file, of: download.id)
                    if let change = FinishedFileLookup.correction(of: download, found: found) {
                        changes.append((change, download.id))
                    }
                    if found != nil { break }
                } catch {
                    // A disk that cannot be read proves nothing.
                    continue
                }
            }
        }
        for start in stride(from: 0, to: changes.count, by: Self.bulkPiece) {
            _ = try? await ask(changes[start...].prefix(Self.bulkPiece), by: deadline)
        }
    }

    /// Whether a client that requests the URL can be given this download. A completed download needs its file.
    private func isCurrent(_ download: Download) -> Bool {
        download.state.isLive || (download.state == .completed && hasFile(download))
    }

    /// Decides the outcome of a request.
    private func plan(_ new: NewDownload) throws(DownloadError) -> (Addition, AdditionPlan.Drafts) {
        var plan = AdditionPlan(parts.rules, index, arriving: ledger.arriving, pendingGIDs: ledger.gids)
        let addition = try add(new, to: &plan)
        return (plan.positioned(addition), plan.drafts)
    }

    /// Decides the outcomes of several items.
    private func plan(
        _ items: [Result<NewDownload, Problem>], label: String?, _ prepared: Set<RecordID>, keepsOrder: Bool
    ) -> ([Addition.Outcome], AdditionPlan.Drafts) {
        var plan = AdditionPlan(
            parts.rules, index, arriving: ledger.arriving, pendingGIDs: ledger.gids, label: label, prepared: prepared,
            keepsOrder: keepsOrder)
        let outcomes = items.map { item -> Addition.Outcome in
            switch item {
            case .failure(let refusal): return .failure(refusal)
            case .success(let new):
                do throws(DownloadError) {
                    return .success(try add(new, to: &plan))
                } catch {
                    return .failure(error.problem)
                }
            }
        }
        return (outcomes.map { $0.map { plan.positioned($0) } }, plan.drafts)
    }

    private func add(_ new: NewDownload, to plan: inout AdditionPlan) throws(DownloadError) -> Addition {
        try plan.add(
            new, at: clock.now, &context, &names,
            hasFile: { [files] in files.has($0, $1) }, reserveEventID: { [publisher] in publisher.reserve() })
    }

    /// Makes the drafts durable together with the outcomes of the request's key, and lets them begin.
    ///
    /// A commit that takes too long goes on. The downloads appear once they are durable, and the key stays reserved until then.
    /// - Returns: False if another replica has added one of the URLs or used the key first.
    private func keep(
        _ drafts: AdditionPlan.Drafts, _ outcomes: [Addition.Outcome], _ key: RequestKey?,
        with more: [StoreChange] = [], by deadline: ContinuousClock.Instant
    ) async throws(DownloadError) -> Bool {
        var changes = drafts.records.map { StoreChange.add($0.record) } + more
        changes += remember(outcomes, as: key)
        if changes.isEmpty { return true }
        let urls = ledger.begin(urls: drafts.first.keys, gids: drafts.gids)
        if !drafts.reassigned.isEmpty {
            let others = Array(drafts.reassigned.values)
            let queued = others.filter { entries[$0.id] != nil || !ledger.reassign($0) }
            together { reassign(queued) }
        }
        if !isShared {
            // Looked at in place, since a copy of a record retains each of its texts.
            for offset in drafts.records.indices {
                ledger.arrive(drafts.records[offset].record.id, drafts.records[offset].record.download.rank)
            }
        }
        noteTrustedTime()
        if isShared { changes += drafts.holders.map { .fleet(.holdURL($0)) } }
        let commit = store.submit(changes)
        if drafts.records.contains(where: { $0.record.download.state == .queued }) { coordination.noteQueued(in: self) }
        let outcome: StoreError?? = await self.result(by: deadline, commit.whenDone)
        // The store publishes a late commit itself, or the service does.
        guard outcome == nil, !isShared else {
            let error = conclude(drafts, urls, key, outcome ?? .interrupted("it does not answer in time"))
            if error == .conflict {
                try await catchUp()
                return false
            }
            if let error { throw DownloadError(error) }
            return true
        }
        if let key { ledger.keepReservation(of: key) }
        Task {
            let error = self.conclude(drafts, urls, key, await commit.value())
            if let key { self.ledger.settle(key, after: error.map { DownloadError($0) }) }
        }
        throw .unconfirmed
    }

    /// Publishes the drafts, or discards them if their commit has failed.
    /// - Parameters:
    ///   - urls: The URLs for which other requests wait.
    ///   - error: The reason why the commit has failed; `nil`: the drafts are durable.
    /// - Returns: The same error.
    private func conclude(_ drafts: AdditionPlan.Drafts, _ urls: [String], _ key: RequestKey?, _ error: StoreError?)
        -> StoreError?
    {
        if error != nil, error != .conflict { parts.degradation.withLock { $0.suspect() } }
        defer {
            let failure = error.flatMap { $0 == .conflict ? nil : DownloadError($0) }
            ledger.end(urls: urls, gids: drafts.gids, after: failure)
        }
        if error != nil {
            for record in drafts.records.lazy.map(\.record) {
                _ = ledger.leave(record.id, record.download.rank)
                names.release(record.id)
                publisher.abandon(record.download.changeID)
            }
            if let key { ledger.forget(key) }
            return error
        }
        if isShared {
            for draft in drafts.records { log(.transition(draft.record.download)) }
            return nil
        }
        for draft in drafts.records {
            let record = draft.record
            let entry = LiveDownload(DownloadMachine(record, url: draft.url))
            entry.eventID = record.download.changeID
            entries[record.id] = entry
            let lateArrival = ledger.leave(record.id, record.download.rank)
            publisher.publish(record.download, counters: nil)
            log(.transition(record.download))
            if let lateArrival { send(.reassigned(lateArrival), to: entry.id) }
            if isStarted { send(.admitted, to: entry.id) }
        }
        schedule()
        return nil
    }
}
