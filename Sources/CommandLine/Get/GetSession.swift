internal import DownloadCore
internal import DownloadIndex
internal import Downloads
internal import HTTPClient
internal import HTTPCore
internal import PawlConfiguration
internal import System
internal import Terminal

/// One run of `pawl get`: its engine and its downloads.
struct GetSession {
    private let directories: GetDirectories
    private let client: HTTPClient
    private let downloads: DownloadService
    private let urls: [HTTPURL]
    private let checksum: Checksum?
    private let headers: RequestHeaders
    /// Whether an origin that cannot be reached at first is asked again.
    private let retries: Bool
    /// The mode of finished files. The engine creates private files; those in the user's directory get the usual mode.
    private let fileMode: UInt32

    /// Opens the engine in a hidden directory that no other command uses. One with a download of these URLs is
    /// preferred, so that repeating a command resumes.
    static func open(_ invocation: Invocation, urls: [HTTPURL]) async throws -> GetSession {
        let target = try GetTarget(invocation)
        // One command chooses at a time: another one holds a lock while it looks into a directory that it does not take.
        let lock = await target.lock()
        defer { lock?.unlock() }
        let existing = target.existingWork
        for name in existing {
            guard let directories = try GetDirectories(target, locking: name) else { continue }
            let session = try await GetSession(invocation, urls: urls, in: directories)
            if session.urls.contains(where: { session.downloads.index.reference(toURL: $0.withoutUserInfo.string) != nil }) {
                return session
            }
            await session.end()
        }
        // The downloads of an interrupted command keep a directory of their own, so that commands can resume at the same time.
        for name in GetTarget.workNames.filter({ !existing.contains($0) }) + existing {
            guard let directories = try GetDirectories(target, locking: name) else { continue }
            return try await GetSession(invocation, urls: urls, in: directories)
        }
        throw StartError("\(GetTarget.workNames.count) commands work in \(target.path) already; -d takes another directory")
    }

    /// Opens the engine. Downloads begin with `run`.
    /// - Parameter directories: The directories of the run.
    init(_ invocation: Invocation, urls given: [HTTPURL], in directories: GetDirectories) async throws(StartError) {
        var settings = invocation.configuration.downloads
        // Each run has its own options, instead of those that an interrupted run has stored.
        settings.explicitSettings = Set(ServiceSettings.Name.allCases)
        checksum = invocation.checksum.flatMap { try? Checksum(parsing: $0) }
        headers = invocation.headers
        retries = settings.retry.attempts != nil
        var urls: [HTTPURL] = []
        var known: Set<HTTPURL> = []
        for url in given where known.insert(url).inserted {
            urls.append(url)
            // The user chose the URL's host, so it is allowed; the destination guard still checks redirects.
            settings.destinationGuard.allowed.append(DestinationRule(url))
        }
        self.urls = urls
        fileMode = SmallFile.defaultMode()
        self.directories = directories
        settings.dataDirectory = directories.workPath
        settings.privateDirectory = directories.work
        settings.waitsForDisk = false
        let client = try invocation.configuration.makeClient()
        let log = Log(level: invocation.configuration.logLevel, format: invocation.configuration.logFormat)
        do throws(DownloadsStartError) {
            downloads = try await DownloadService(
                configuration: settings, client: client,
                log: { event in
                    // The display tells of failures.
                    if case .transition(let download) = event, download.state == .failed { return }
                    log.write(event)
                })
        } catch {
            client.shutdown()
            throw StartError(error.description)
        }
        self.client = client
    }

    /// Downloads everything. Returns whether every URL completed.
    func run(
        ticks: AsyncStream<Void>, wake: @escaping @Sendable () -> Void, interval: Duration, interruption: Interruption,
        display: inout ProgressDisplay
    ) async -> Bool {
        await setOthersAside()
        var pending: [RecordID] = []
        var isComplete = true
        // Records of saved files are removed once all downloads are complete.
        var saved: [RecordID] = []
        for url in urls {
            do throws(DownloadError) {
                pending.append(try await begin(url))
            } catch {
                isComplete = false
                reportFailure(
                    of: url.withoutUserInfo.string, name: nil, error.problem.code.rawValue, error.description, nil, &display)
            }
        }
        let subscription = downloads.events.subscribe(scope: nil, after: nil, interval: interval, wake: wake)
        defer { subscription.cancel() }
        await downloads.start()
        let ticker = Task {
            while !Task.isCancelled {
                try await Task.sleep(for: interval)
                wake()
            }
        }
        defer { ticker.cancel() }
        wake()
        for await _ in ticks {
            if interruption.isRaised { return false }
            for id in pending {
                guard let download = downloads.index.download(id), !download.state.isLive || isUnreachable(download) else {
                    continue
                }
                pending.removeAll { $0 == id }
                if await finish(download, &display) { saved.append(id) } else { isComplete = false }
            }
            if pending.isEmpty { break }
            display.show(pending.compactMap { downloads.index.download($0) }, now: .now)
        }
        guard isComplete, pending.isEmpty else { return false }
        for id in saved { try? await downloads.remove(id, deletingFile: false) }
        return true
    }

    /// Checkpoints and closes everything; removes the hidden directory if nothing can be resumed. Returns the bytes
    /// that can be resumed, as the end of a sentence.
    @discardableResult
    func end() async -> String {
        // The engine releases its lock with its last reference, which may be a moment later.
        defer { directories.work.unlock() }
        await downloads.shutdown()
        client.shutdown()
        let left = downloads.index.page(ListQuery(limit: Int.max)).items.filter { $0.state != .completed || isWaiting($0) }
        guard left.isEmpty else {
            let wanted = Set(urls.map(\.withoutUserInfo.string))
            let bytes = left.filter { wanted.contains($0.url) }.reduce(Int64(0)) { $0 &+ $1.bytesReceived }
            return bytes > 0 ? ": \(HumanReadable.bytes(bytes)) are kept in \(directories.workPath)" : ""
        }
        directories.removeWork()
        return ""
    }

    /// Pauses unfinished downloads of earlier runs that are not part of this one.
    private func setOthersAside() async {
        let wanted = Set(urls.map(\.withoutUserInfo.string))
        for download in downloads.index.live() where !wanted.contains(download.url) {
            _ = try? await downloads.perform(.pause, on: download.id)
        }
    }

    /// Resumes a download of an earlier run, or adds the URL.
    private func begin(_ url: HTTPURL) async throws(DownloadError) -> RecordID {
        let shown = url.withoutUserInfo
        if let known = downloads.index.reference(toURL: shown.string) {
            switch known.state {
            // A download that was added without this digest would not be verified against it.
            case _ where checksum != nil && downloads.index.download(known.id)?.checksum != checksum:
                try await downloads.remove(known.id, deletingFile: true)
            case .completed:
                if let download = downloads.index.download(known.id), isWaiting(download) || savedPath(download) != nil {
                    return known.id
                }
                try await downloads.remove(known.id, deletingFile: false)
            case .queued, .downloading, .retrying:
                try await renewHeaders(of: known.id, for: url)
                return known.id
            case .paused, .failed:
                try await renewHeaders(of: known.id, for: url)
                return try await downloads.perform(.resume, on: known.id).id
            case .cancelled: try await downloads.remove(known.id, deletingFile: false)
            }
        }
        var new = NewDownload(url: shown)
        new.checksum = checksum
        new.headers = headers(for: url)
        return try await downloads.add(new).download.id
    }

    /// Gives a download of an earlier run the header fields of this one. The earlier ones may have been wrong.
    private func renewHeaders(of id: RecordID, for url: HTTPURL) async throws(DownloadError) {
        var change = DownloadChange()
        change.url = url.withoutUserInfo
        change.headers = headers(for: url)
        if !change.headers.isEmpty { _ = try await downloads.change(id, change) }
    }

    /// The header fields for a URL. An option's user and password take precedence over the URL's.
    private func headers(for url: HTTPURL) -> RequestHeaders {
        var headers = headers
        if let credentials = url.basicAuthorization { try? headers.authorize(credentials) }
        return headers
    }

    /// Whether its origin has not answered yet, and cannot be reached: its name is probably mistyped.
    private func isUnreachable(_ download: Download) -> Bool {
        !retries && download.state == .retrying && download.filename == nil && download.error?.code == .connectionFailed
    }

    /// Whether its file is complete and not yet moved to the target directory.
    private func isWaiting(_ download: Download) -> Bool {
        download.state == .completed && download.filename.flatMap(directories.finished)?.kind == .regular
    }

    /// The path of the file in the target directory, if an interrupted run has moved it there, judging by name and
    /// length. Its record stays until all downloads of the run are complete, so that a repetition only fetches the
    /// others.
    private func savedPath(_ download: Download) -> String? {
        guard let name = directories.target.output ?? download.filename,
            let found = try? directories.target.directory.status(of: name),
            found.kind == .regular, found.isOwn, found.identity.size == download.bytesReceived
        else { return nil }
        return directories.target.path(of: name)
    }

    /// Moves a finished file to the target directory, or reports the failure of its download.
    private func finish(_ download: Download, _ display: inout ProgressDisplay) async -> Bool {
        guard download.state == .completed, let name = download.filename else {
            let reason = download.error?.message ?? "it is \(download.state.rawValue)"
            let code = download.error?.code.rawValue ?? download.state.rawValue
            reportFailure(of: download.url, name: download.filename, code, reason, download.error?.httpStatus, &display)
            if download.state.isLive { _ = try? await downloads.perform(.cancel, on: download.id) }
            // There are no bytes to resume from.
            if download.bytesReceived == 0 { try? await downloads.remove(download.id, deletingFile: false) }
            return false
        }
        if !isWaiting(download), let path = savedPath(download) {
            display.saved(download, at: path)
            return true
        }
        do throws(SystemError) {
            display.saved(download, at: try directories.save(name, mode: fileMode))
        } catch {
            let reason = "cannot move the file to \(directories.target.path(of: directories.target.output ?? name)): \(error)"
            reportFailure(of: download.url, name: name, FailureCode.ioError.rawValue, reason, nil, &display)
            // The file is missing, so the next run must fetch it again.
            if error.kind == .notFound { try? await downloads.remove(download.id, deletingFile: false) }
            return false
        }
        return true
    }

    /// Reports a failure in the progress, or on standard error.
    private func reportFailure(
        of url: String, name: String?, _ code: String, _ reason: String, _ httpStatus: Int?, _ display: inout ProgressDisplay
    ) {
        display.failed(url, name: name, code: code, reason: reason, httpStatus: httpStatus)
        guard !display.showsFailures else { return }
        StandardStreams.writeError("\(UsageError("pawl: \(Log.withoutSecrets(url)): \(reason)"))\n")
    }
}
