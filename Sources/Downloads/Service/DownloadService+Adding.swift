internal import HTTPClient
internal import HTTPCore

/// What became of a request to download.
public enum Addition: Sendable {
    /// A new download.
    case created(Download)
    /// The URL's download that is live or completed already.
    case existing(Download)

    /// The download, new or not.
    public var download: Download {
        switch self {
        case .created(let download), .existing(let download): download
        }
    }
}

/// One of the things that a client asks for in one request.
public enum BatchEntry: Sendable {
    /// A download.
    case new(NewDownload)
    /// What has been found wanting before it came here, in the words that the client is told.
    case refused([UInt8])
}

/// What an order came to.
public enum OrderOutcome: Sendable {
    /// A new download.
    case created(Download)
    /// The URL's download that is live or completed already.
    case existing(Download)
    /// It was refused, in these words.
    case refused([UInt8])
}

extension OrderOutcome {
    init(_ addition: Addition) {
        switch addition {
        case .created(let download): self = .created(download)
        case .existing(let download): self = .existing(download)
        }
    }
}

extension DownloadService {
    /// Accepts a download. When it returns, the record is on disk, and with it the answer to the request's key.
    /// - Parameters:
    ///   - new: what to download, and how.
    ///   - key: the request's key, which has been claimed.
    /// - Returns: the new download, or the URL's existing one.
    /// - Throws: `destinationForbidden`, `duplicate` (only if asked to reject them), `invalid`, `insufficientStorage`,
    ///   `overloaded`, `storeFailed`.
    public func add(_ new: NewDownload, answering key: RequestKey? = nil) async throws(DownloadError) -> Addition {
        try mayAdd()
        await settle([new])
        var drafts = Drafts()
        let addition = try plan(new, &drafts)
        try await keep(drafts, answering: key, [OrderOutcome(addition)])
        return shown(addition, toRepeat: key != nil)
    }

    /// Accepts many downloads. When it returns, their records are on disk, all of them or, if it throws, none.
    /// - Parameters:
    ///   - entries: what to download, and how.
    ///   - key: the request's key, which has been claimed.
    ///   - wording: how a client is told that one of them is refused.
    /// - Returns: what became of each, in their order.
    /// - Throws: `insufficientStorage`, `overloaded`, `storeFailed`.
    public func add(
        _ entries: [BatchEntry], answering key: RequestKey? = nil, wording: @Sendable (DownloadError) -> [UInt8]
    ) async throws(DownloadError) -> [OrderOutcome] {
        try mayAdd()
        await settle(entries.compactMap { if case .new(let new) = $0 { new } else { nil } })
        var drafts = Drafts()
        var outcomes: [OrderOutcome] = []
        for entry in entries {
            switch entry {
            case .refused(let words): outcomes.append(.refused(words))
            case .new(let new):
                do throws(DownloadError) {
                    outcomes.append(OrderOutcome(try plan(new, &drafts)))
                } catch {
                    outcomes.append(.refused(wording(error)))
                }
            }
        }
        try await keep(drafts, answering: key, outcomes)
        return outcomes.map { outcome in
            switch outcome {
            case .created(let download): OrderOutcome(shown(.created(download), toRepeat: key != nil))
            case .existing(let download): OrderOutcome(shown(.existing(download), toRepeat: key != nil))
            case .refused: outcome
            }
        }
    }

    private func mayAdd() throws(DownloadError) {
        guard !isShuttingDown else { throw .shuttingDown }
        guard !store.isCongested else { throw .overloaded }
    }

    /// Waits until nobody makes the first download of one of these URLs durable: it might be what these lead to.
    private func settle(_ orders: [NewDownload]) async {
        while let order = orders.first(where: { $0.onDuplicate != .new && pendingURLs[$0.url.string] != nil }) {
            await withCheckedContinuation { pendingURLs[order.url.string]?.append($0) }
        }
    }

    /// Downloads that are about to be made, by the URL of each first one.
    private struct Drafts {
        var jobs: [DownloadJob] = []
        var first: [String: Download] = [:]
    }

    /// Decides what an order comes to, and drafts the download if it is a new one.
    private func plan(_ new: NewDownload, _ drafts: inout Drafts) throws(DownloadError) -> Addition {
        try judge(new.url)
        for url in new.mirrors { try judge(url, called: "the mirror") }
        if let webhook = new.webhook { try judge(webhook, called: "the webhook") }
        if let filename = new.filename, let objection = FileNaming.objection(to: filename) { throw .invalid(objection) }
        let url = new.url.string
        if new.onDuplicate != .new {
            // One whose file was taken away is nothing that a client could be given instead.
            let known = index.downloads(ofURL: url).first { $0.state.isLive || ($0.state == .completed && !$0.fileMissing) }
            if let found = drafts.first[url] ?? known {
                if new.onDuplicate == .reject { throw .duplicate(found.id) }
                return .existing(found)
            }
        }
        var random = SystemRandom()
        let id = identifiers.next(now: .now(), using: &random)
        var new = new
        new.filename = new.filename.map(FileNaming.normalised)
        var record = DownloadRecord(new, id: id)
        record.download.filename = new.filename.map { reserve($0, for: id) }
        var job = DownloadJob(record, url: new.url)
        job.reservedName = record.download.filename
        drafts.jobs.append(job)
        if drafts.first[url] == nil { drafts.first[url] = record.download }
        return .created(record.download)
    }

    /// Makes the drafts durable in one step, together with the answer that tells of them, and lets them begin.
    private func keep(
        _ drafts: Drafts, answering key: RequestKey?, _ outcomes: [OrderOutcome]
    ) async throws(DownloadError) {
        let changes = drafts.jobs.map { StoreChange.add($0.record) } + remember(outcomes, as: key)
        let urls = drafts.first.keys.filter { pendingURLs[$0] == nil }
        for url in urls { pendingURLs[url] = [] }
        defer {
            for url in urls { pendingURLs.removeValue(forKey: url)?.forEach { $0.resume() } }
        }
        do throws(StoreError) {
            try await store.submit(changes).wait()
        } catch {
            for job in drafts.jobs { release(job.reservedName, of: job.record.id) }
            forget(key)
            throw DownloadError(error)
        }
        for job in drafts.jobs {
            let id = job.record.id
            jobs[id] = job
            tell(job)
            log(.transition(job.record.download))
            if job.record.download.state == .queued { enqueue(id) }
        }
        if !drafts.jobs.isEmpty { schedule() }
    }

    /// What a client is shown: its download as it is now, unless a repetition has to be shown the same.
    private func shown(_ addition: Addition, toRepeat isKept: Bool) -> Addition {
        guard !isKept, let download = index.download(addition.download.id) else { return addition }
        if case .created = addition { return .created(download) }
        return .existing(download)
    }

    // MARK: - Names

    /// Chooses a name that no live download has been promised and no finished file bears, and reserves it.
    func reserve(_ wanted: String, for id: DownloadID) -> String {
        let name = FileNaming.free(wanted) { name in
            reservedNames[name.lowercased()].map { $0 != id } ?? FileSystem.exists(directory.file(name))
        }
        reservedNames[name.lowercased()] = id
        return name
    }

    /// Lets others have the name that was kept for a download.
    func releaseName(of id: DownloadID) {
        release(jobs[id]?.reservedName, of: id)
        jobs[id]?.reservedName = nil
    }

    private func release(_ name: String?, of id: DownloadID) {
        guard let name = name?.lowercased(), reservedNames[name] == id else { return }
        reservedNames[name] = nil
    }
}

extension DownloadError {
    /// What a client is told when the store cannot keep a promise.
    init(_ error: StoreError) {
        switch error {
        case .full: self = .insufficientStorage(error.description)
        case .closed: self = .shuttingDown
        default: self = .storeFailed(error.description)
        }
    }
}
