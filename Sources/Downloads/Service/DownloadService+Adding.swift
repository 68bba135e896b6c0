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

extension DownloadService {
    /// Accepts a download. When it returns, the record is on disk.
    /// - Parameter new: what to download, and how.
    /// - Returns: the new download, or the URL's existing one.
    /// - Throws: `destinationForbidden`, `duplicate` (only if asked to reject them), `invalid`, `insufficientStorage`, `storeFailed`.
    public func add(_ new: NewDownload) async throws(DownloadError) -> Addition {
        guard !isShuttingDown else { throw .shuttingDown }
        for url in [new.url] + new.mirrors + [new.webhook].compactMap(\.self) { try judge(url) }
        if let filename = new.filename, let objection = FileNaming.objection(to: filename) { throw .invalid(objection) }
        let url = new.url.string
        if new.onDuplicate != .new {
            while pendingURLs[url] != nil {
                await withCheckedContinuation { pendingURLs[url]?.append($0) }
            }
            if let existing = board.downloads(ofURL: url).first(where: { $0.state.isLive || $0.state == .completed }) {
                if new.onDuplicate == .reject { throw .duplicate(existing.id) }
                return .existing(existing)
            }
        }
        return .created(try await create(new))
    }

    private func create(_ new: NewDownload) async throws(DownloadError) -> Download {
        let url = new.url.string
        let marksPending = pendingURLs[url] == nil
        if marksPending { pendingURLs[url] = [] }
        defer {
            if marksPending { pendingURLs.removeValue(forKey: url)?.forEach { $0.resume() } }
        }

        var random = SystemRandom()
        let id = identifiers.next(now: .now(), using: &random)
        var record = DownloadRecord(new, id: id)
        record.download.filename = new.filename.map { reserve($0, for: id) }
        guard var job = DownloadJob(record) else { throw .invalid("url '\(url)' cannot be parsed") }
        job.reservedName = record.download.filename
        do throws(StoreError) {
            try await store.submit([.save(record)]).wait()
        } catch {
            release(job.reservedName, of: id)
            throw DownloadError(error)
        }
        jobs[id] = job
        tell(job)
        log(.transition(record.download))
        if record.download.state == .queued {
            enqueue(id)
            schedule()
        }
        return board.download(id) ?? record.download
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
