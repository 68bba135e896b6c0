internal import HTTPClient
internal import HTTPCore
internal import JSON
internal import System

/// The addition of downloads.
extension DownloadService {
    /// Accepts a download. When it returns, the record and the outcome of the request's key are durable.
    /// - Parameters:
    ///   - new: The download to add.
    ///   - key: The request's key, which has been claimed; `nil`: none.
    /// - Returns: The new download, or the URL's existing one.
    /// - Throws: `destinationForbidden`, `duplicate` (only if the request rejects duplicates), `gidInUse`, `invalid`,
    ///   `keyMismatch`, `insufficientStorage`, `overloaded`, `unconfirmed` (it may still happen), `shuttingDown`,
    ///   `storeFailed`.
    public func add(_ new: NewDownload, key: RequestKey? = nil) async throws(DownloadError) -> Addition {
        let deadline = ContinuousClock.now + Self.answerLimit
        while true {
            _ = try await prepare([new], label: nil, by: deadline)
            var drafts = Drafts()
            let addition = try plan(new, &drafts)
            if try await keep(drafts, [.success(addition)], key, by: deadline) { return addition }
            // Another replica has added the URL or used the key first.
            guard let key, let kept = try await coordination.outcomes(of: key, in: self)?.first else { continue }
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
    ///   - key: The request's key, which has been claimed; `nil`: none.
    /// - Returns: The outcome of each item, in their order.
    /// - Throws: `keyMismatch`, `insufficientStorage`, `overloaded`, `unconfirmed` (it may still happen),
    ///   `shuttingDown`, `storeFailed`.
    public func add(
        _ items: [Result<NewDownload, Addition.Refusal>], label: String? = nil, key: RequestKey? = nil
    ) async throws(DownloadError) -> [Addition.Outcome] {
        let deadline = ContinuousClock.now + Self.answerLimit
        while true {
            let takenIn = try await prepare(items.compactMap { try? $0.get() }, label: label, by: deadline)
            var drafts = Drafts()
            drafts.takenIn = takenIn
            drafts.parts = parts(ofWork: label)
            let outcomes = plan(items, label: label, &drafts)
            if try await keep(drafts, outcomes, key, by: deadline) { return outcomes }
            if let key, let kept = try await coordination.outcomes(of: key, in: self) { return kept }
        }
    }

    /// Waits for everything that decides whether a request is a duplicate: finished files that are examined, and the
    /// commits of first downloads of the same URLs. Prepares the existing downloads of the work with this label.
    /// - Returns: The prepared downloads. They are returned for their URLs, whatever state they have by then.
    private func prepare(
        _ requests: [NewDownload], label: String?, by deadline: ContinuousClock.Instant
    ) async throws(DownloadError) -> Set<DownloadID> {
        guard !isShuttingDown else { throw .shuttingDown }
        guard !store.isCongested else { throw .overloaded }
        let known = requests.filter { $0.onDuplicate != .new && index.hasDownload(ofURL: $0.url.string) }
        if !known.isEmpty {
            // Another replica may have removed the existing download.
            try await catchUp()
            await recogniseFiles(of: Set(known.lazy.map(\.url.string)), by: deadline)
        }
        // Done last, because another request for the same URL may arrive during any other wait.
        var takenIn: Set<DownloadID> = []
        while true {
            while let request = requests.first(where: { $0.onDuplicate != .new && pendingURLs[$0.url.string] != nil }) {
                try await follow(by: deadline) { pendingURLs[request.url.string]?.append($0) }
            }
            guard let label, try await takeIn(requests, label: label, &takenIn, by: deadline) else { break }
        }
        guard !isShuttingDown else { throw .shuttingDown }
        return takenIn
    }

    /// Finds a finished file for each URL, newest first, and records which files are missing or have returned.
    ///
    /// At most ``candidateLimit`` files are examined for each URL. A download with a missing file is no candidate any more.
    private func recogniseFiles(of urls: Set<String>, by deadline: ContinuousClock.Instant) async {
        var changes: [(DownloadMachine.Command.Request, Download)] = []
        for url in urls {
            for download in index.downloads(ofURL: url, atMost: Self.candidateLimit) {
                if download.state.isLive { break }
                guard let file = download.published else { continue }
                if hasFile(download) { break }
                do throws(FinishedFileError) {
                    let found = try await recognise(file, of: download.id)
                    if let change = noted(found, of: download) { changes.append((change, download)) }
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

    /// The maximum number of candidates for a request: of one URL, and of one part of a work.
    private static let candidateLimit = 8

    /// Adds the work's label to existing downloads and removes it from superseded ones. Failed and cancelled downloads
    /// of the work continue, with the checksum and URL of the request.
    /// - Parameter known: The prepared downloads. Further ones are added.
    /// - Returns: Whether downloads were changed, so that time has passed.
    private func takeIn(
        _ requests: [NewDownload], label: String, _ known: inout Set<DownloadID>, by deadline: ContinuousClock.Instant
    ) async throws(DownloadError) -> Bool {
        var steps: [(DownloadMachine.Command.Request, Download)] = []
        var change = DownloadChange()
        change.addedLabel = label
        var removal = DownloadChange()
        removal.removedLabel = label
        let parts = parts(ofWork: label)
        for request in requests where request.onDuplicate == .returnExisting {
            let downloads = candidates(for: request, parts)
            if let current = downloads.first(where: { isCurrent($0) || known.contains($0.id) }) {
                if !current.labels.containsExactly(label), known.insert(current.id).inserted {
                    steps.append((.change(change), current))
                }
            } else if let ended = downloads.first(where: { $0.labels.containsExactly(label) }) {
                if ended.state == .completed {
                    steps.append((.change(removal), ended))
                    continue
                }
                known.insert(ended.id)
                var correction = DownloadChange()
                if let checksum = request.checksum, checksum != ended.checksum { correction.checksum = checksum }
                if request.url.string != ended.url { correction.url = request.url }
                if correction.checksum != nil || correction.url != nil { steps.append((.change(correction), ended)) }
                steps.append((ended.state == .failed ? .resume : .retry, ended))
            }
        }
        // Each machine carries out its commands in order.
        for start in stride(from: 0, to: steps.count, by: Self.bulkPiece) {
            _ = try await ask(steps[start...].prefix(Self.bulkPiece), by: deadline)
        }
        return !steps.isEmpty
    }

    /// Returns a work's downloads by their items' ids, newest first. A podcast's URLs change now and then, its ids do not.
    private func parts(ofWork label: String?) -> [[UInt8]: [Download]] {
        guard let label else { return [:] }
        var parts: [[UInt8]: [Download]] = [:]
        var query = ListQuery(label: label)
        query.limit = Self.bulkPiece
        while true {
            let page = index.page(query)
            for download in page.items {
                guard let id = Self.itemID(download.track) else { continue }
                if download.state.isLive || parts[id, default: []].count < Self.candidateLimit {
                    parts[id, default: []].append(download)
                }
            }
            guard let next = page.next else { return parts }
            query.after = next
        }
    }

    /// Returns the existing downloads for a request: those of its URL, then those of the same part of a work.
    private func candidates(for request: NewDownload, _ parts: [[UInt8]: [Download]]) -> [Download] {
        let same = index.downloads(ofURL: request.url.string, atMost: Self.candidateLimit)
        guard !parts.isEmpty, let id = Self.itemID(request.track), let others = parts[id] else { return same }
        return same + others
    }

    private static func itemID(_ track: [UInt8]?) -> [UInt8]? {
        track.flatMap { (try? JSONValue(parsing: $0))?["id"]?.string }.map { Array($0.utf8) }
    }

    /// Whether a client that requests the URL can be given this download. A completed download needs its file.
    private func isCurrent(_ download: Download) -> Bool {
        download.state.isLive || (download.state == .completed && hasFile(download))
    }

    /// A download that is about to be made.
    private struct Draft: Sendable {
        var record: DownloadRecord
        let url: HTTPURL
    }

    /// The new downloads of one request before they are durable. `first` has the first one of each URL.
    private struct Drafts: Sendable {
        var records: [Draft] = []
        var first: [String: Download] = [:]
        /// The last draft of each requested position.
        var lastPlaced: [Int: DownloadID] = [:]
        /// Downloads that get another arrival, to make room in the queue.
        var reassigned: [DownloadID: QueuePlacement.Other] = [:]
        var gids: Set<DownloadGID> = []
        /// Drafts that are wanted in addition to other downloads of their URLs.
        var others: Set<DownloadID> = []
        /// The drafts that later requests for their URLs receive.
        var holders: [DownloadID] {
            records.lazy.map(\.record).filter { first[$0.download.url]?.id == $0.id && !others.contains($0.id) }.map(\.id)
        }
        /// Existing downloads that are returned for their URLs, whatever state they have.
        var takenIn: Set<DownloadID> = []
        /// The existing downloads of the request's work, by their items' ids.
        var parts: [[UInt8]: [Download]] = [:]

        /// Returns the offset of a draft in `records`, which are in the order of their ids; `nil`: the download is no draft.
        func offset(of id: DownloadID) -> Int? {
            var (low, high) = (0, records.count)
            while low < high {
                let middle = (low + high) / 2
                if records[middle].record.id < id { low = middle + 1 } else { high = middle }
            }
            return low < records.count && records[low].record.id == id ? low : nil
        }

        /// Gives another arrival to a download in the queue.
        mutating func reassign(_ other: QueuePlacement.Other) {
            if let offset = offset(of: other.id) {
                records[offset].record.download.arrival = other.arrival
            } else {
                reassigned[other.id] = QueuePlacement.Other(
                    id: other.id, arrival: other.arrival, former: reassigned[other.id]?.former ?? other.former)
            }
        }

        /// Returns the rank of a download once the drafts are in the queue.
        func rank(of download: Download) -> QueueRank {
            offset(of: download.id).map { records[$0].record.download.rank } ?? reassigned[download.id]?.rank ?? download.rank
        }
    }

    /// The queue, extended by the downloads that are being made durable and by the drafts of one request.
    private typealias DraftQueue = ExtendedQueue<ExtendedQueue<SnapshotIndex.Waiting>>

    /// The queue that drafts enter. It must be released before `arriving` changes, or that change copies the shared storage.
    private var draftQueue: DraftQueue { ExtendedQueue(ExtendedQueue(index.waiting, adding: arriving)) }

    /// Decides the outcome of a request, and drafts a new download if there is none to return.
    /// - Returns: The download with its position in the queue.
    private func plan(_ new: NewDownload, _ drafts: inout Drafts) throws(DownloadError) -> Addition {
        var queue = draftQueue
        return positioned(try plan(new, &drafts, &queue), drafts, queue)
    }

    /// Decides the outcomes of several items, and drafts the new downloads.
    /// - Returns: The downloads with their positions in the queue once all drafts are in it.
    private func plan(
        _ items: [Result<NewDownload, Addition.Refusal>], label: String?, _ drafts: inout Drafts
    ) -> [Addition.Outcome] {
        var queue = draftQueue
        let outcomes = items.map { item -> Addition.Outcome in
            switch item {
            case .failure(let refusal): return .failure(refusal)
            case .success(var new):
                if let label, !new.labels.containsExactly(label) { new.labels.append(label) }
                do throws(DownloadError) {
                    return .success(try plan(new, &drafts, &queue))
                } catch {
                    return .failure(Addition.Refusal(error))
                }
            }
        }
        return outcomes.map { $0.map { positioned($0, drafts, queue) } }
    }

    private func plan(_ new: NewDownload, _ drafts: inout Drafts, _ queue: inout DraftQueue) throws(DownloadError) -> Addition {
        try check(new.url)
        for url in new.mirrors { try check(url, role: "the mirror") }
        if let webhook = new.webhook { try check(webhook, role: "the webhook") }
        try check(filename: new.filename, folder: new.folder, of: nil)
        let url = new.url.string
        if new.onDuplicate != .new {
            var found = drafts.first[url]
            if found == nil {
                found = candidates(for: new, drafts.parts).first { isCurrent($0) || drafts.takenIn.contains($0.id) }
            }
            if let found {
                if new.onDuplicate == .reject { throw .duplicate(found.id) }
                return .existing(found)
            }
        }
        if let gid = new.gid, pendingGIDs.contains(gid) || drafts.gids.contains(gid) || index.find(gid: gid) != nil {
            throw .gidInUse(gid)
        }
        var id = newIdentity()
        while new.gid == nil, pendingGIDs.contains(id.gid) || index.isKnownGID(id.gid) { id = newIdentity() }
        var new = new
        new.filename = new.filename.map(FileNaming.normalised)
        new.folder = FileNaming.normalised(new.folder)
        var record = DownloadRecord(new, id: id, at: clock.now)
        if let path = record.download.path {
            record.download.filename = names.reserve(path, for: id).name
        } else if !record.download.folder.isEmpty {
            names.reserve(folder: record.download.folder, for: id)
        }
        record.download.stamp = publisher.reserve()
        if let position = new.position {
            // Items of one request with the same position keep their order.
            let previous = drafts.lastPlaced[position].flatMap(drafts.offset(of:)).map { drafts.records[$0].record.download.rank }
            let place = previous.map { queue.count(below: $0) + 1 } ?? position
            let placement = QueuePlacement(of: id, record.download.rank, .start(place), in: queue, newest: newIdentity())
            record.download.priority = placement.rank.priority
            if placement.rank.arrival != id { record.download.arrival = placement.rank.arrival }
            for other in placement.others {
                queue.reassign(other)
                drafts.reassign(other)
            }
            drafts.lastPlaced[position] = id
        }
        queue.insert(id, record.download.rank)
        if let gid = new.gid { drafts.gids.insert(gid) }
        drafts.records.append(Draft(record: record, url: new.url))
        if new.onDuplicate == .new { drafts.others.insert(id) }
        var shown = record.download
        shown.waitingFor = index.waitingReason(of: shown)
        if drafts.first[url] == nil { drafts.first[url] = shown }
        return .created(shown)
    }

    private func newIdentity() -> DownloadID {
        context.newIdentity(at: clock.now)
    }

    /// Returns the addition with its position in the queue once all drafts are in it.
    private func positioned(_ addition: Addition, _ drafts: Drafts, _ queue: DraftQueue) -> Addition {
        var download = addition.download
        guard download.isInQueue else { return addition }
        download.position = queue.count(below: drafts.rank(of: download))
        return switch addition {
        case .created: .created(download)
        case .existing: .existing(download)
        }
    }

    /// Makes the drafts durable together with the outcomes of the request's key, and lets them begin.
    ///
    /// A commit that takes too long goes on. The downloads appear once they are durable, and the key stays claimed until then.
    /// - Returns: False if another replica has added one of the URLs or used the key first.
    private func keep(
        _ drafts: Drafts, _ outcomes: [Addition.Outcome], _ key: RequestKey?, by deadline: ContinuousClock.Instant
    ) async throws(DownloadError) -> Bool {
        var changes = drafts.records.map { StoreChange.add($0.record) }
        changes += remember(outcomes, as: key)
        if changes.isEmpty { return true }
        let urls = drafts.first.keys.filter { pendingURLs[$0] == nil }
        for url in urls { pendingURLs[url] = [] }
        pendingGIDs.formUnion(drafts.gids)
        if !drafts.reassigned.isEmpty {
            let reassigned = Array(drafts.reassigned.values)
            group = WriteBatch()
            let queued = reassigned.filter { other in
                guard entries[other.id] == nil, arriving.remove(other.id, other.former) else { return true }
                arriving.insert(other.id, other.rank)
                lateArrivals[other.id] = other.arrival
                return false
            }
            coordination.reposition(queued, in: self)
            submitGroup()
        }
        if !coordination.publishesCommits {
            // Looked at in place, since a copy of a record retains each of its texts.
            for offset in drafts.records.indices {
                arriving.insert(drafts.records[offset].record.id, drafts.records[offset].record.download.rank)
            }
        }
        trustedTime()
        let commit = coordination.submit(changes, holdingURLsOf: drafts.holders, in: self)
        let outcome: StoreError?? = await self.result(by: deadline) { finish in commit.whenDone(finish) }
        // The store publishes a late commit itself, or the service does.
        guard outcome == nil, !coordination.publishesCommits else {
            let error = conclude(drafts, urls, key, outcome ?? .interrupted("it does not answer in time"))
            if error == .conflict {
                try await catchUp()
                return false
            }
            if let error { throw DownloadError(error) }
            return true
        }
        if let key { claims[ExactText(key.name)]?.isUnsettled = true }
        Task {
            let error = self.conclude(drafts, urls, key, await commit.failure())
            guard let key else { return }
            self.claims[ExactText(key.name)]?.isUnsettled = false
            self.release(key, after: error.map { DownloadError($0) })
        }
        throw .unconfirmed
    }

    /// Publishes the drafts, or discards them if their commit has failed.
    /// - Parameters:
    ///   - urls: The URLs for which other requests wait.
    ///   - error: The reason why the commit has failed; `nil`: the drafts are durable.
    /// - Returns: The same error.
    private func conclude(_ drafts: Drafts, _ urls: [String], _ key: RequestKey?, _ error: StoreError?) -> StoreError? {
        defer {
            pendingGIDs.subtract(drafts.gids)
            let failure = error.flatMap { $0 == .conflict ? nil : DownloadError($0) }
            for url in urls { pendingURLs.removeValue(forKey: url)?.forEach { $0(Self.passedOn(failure)) } }
        }
        if error != nil {
            for record in drafts.records.lazy.map(\.record) {
                _ = leaveArriving(record.download)
                names.release(record.id)
                publisher.abandon(record.download.stamp)
            }
            forget(key)
            return error
        }
        if coordination.publishesCommits {
            for draft in drafts.records { log(.transition(draft.record.download)) }
            return nil
        }
        for draft in drafts.records {
            let record = draft.record
            let entry = LiveDownload(DownloadMachine(record, url: draft.url))
            entry.eventID = record.download.stamp
            entries[record.id] = entry
            let lateArrival = leaveArriving(record.download)
            publisher.publish(record.download, counters: nil)
            log(.transition(record.download))
            if let lateArrival { send(.reassigned(lateArrival), to: entry) }
            if isStarted { send(.admitted, to: entry) }
        }
        schedule()
        return nil
    }

    /// Waits for a result until a deadline.
    /// - Parameter begin: Begins the work. Its argument receives the result.
    /// - Returns: The result; `nil` if there is none in time.
    func result<Value: Sendable>(
        by deadline: ContinuousClock.Instant, _ begin: (@escaping @Sendable (Value) -> Void) -> Void
    ) async -> Value? {
        var number = 0
        let value: Value? = await withCheckedContinuation { continuation in
            let waiter = Locked<CheckedContinuation<Value?, Never>?>(continuation)
            let wait = waitLimits.add(by: deadline) { waiter.withLock { $0.take() }?.resume(returning: nil) }
            number = wait.number
            if wait.isFirst { setTimer(.waitLimit, at: deadline) }
            begin { value in waiter.withLock { $0.take() }?.resume(returning: value) }
        }
        waitLimits.remove(number)
        return value
    }

    func endWaits(now: ContinuousClock.Instant) {
        for end in waitLimits.takeExpired(now: now) { end() }
        if let next = waitLimits.next { setTimer(.waitLimit, at: next) }
    }

    /// Waits for another request.
    /// - Parameter join: Adds this request to those that wait for the other one.
    /// - Throws: `overloaded` if that takes too long, or if the other request has waited for the store in vain.
    func follow(by deadline: ContinuousClock.Instant, _ join: (@escaping Follower) -> Void) async throws(DownloadError) {
        guard let failure: DownloadError? = await self.result(by: deadline, join) else { throw .overloaded }
        if let failure { throw failure }
    }

    /// Removes a draft from the downloads that are being made durable.
    /// - Returns: The arrival that it has got meanwhile, to make room for another download; `nil`: none.
    private func leaveArriving(_ download: Download) -> DownloadID? {
        let lateArrival = lateArrivals.isEmpty ? nil : lateArrivals.removeValue(forKey: download.id)
        var rank = download.rank
        if let lateArrival { rank.arrival = lateArrival }
        arriving.remove(download.id, rank)
        return lateArrival
    }

    /// Refuses names and folders that a file cannot have.
    /// - Parameter id: The download of the file; `nil`: a new one.
    func check(filename: String?, folder: String?, of id: DownloadID?) throws(DownloadError) {
        if let filename, let objection = FileNaming.objection(to: filename) { throw .invalid(objection) }
        guard let folder, !folder.isEmpty else { return }
        if let objection = FileNaming.objection(toFolder: folder) { throw .invalid(objection) }
        if let objection = names.objection(toFolder: FileNaming.normalised(folder), for: id) { throw .invalid(objection) }
    }

    /// Refuses a destination that is forbidden, as far as that is known without a name server.
    /// - Parameter role: The role of the URL for messages; `nil`: it is the download's own URL.
    func check(_ url: HTTPURL, role: String? = nil) throws(DownloadError) {
        if case .forbidden(let reason) = configuration.destinationGuard.evaluate(host: url.host, port: url.port) {
            throw .destinationForbidden(role.map { "\($0) \(reason)" } ?? reason)
        }
    }
}
