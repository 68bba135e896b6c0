internal import DownloadCore
internal import DownloadFeed
internal import Downloads
internal import HTTPClient
internal import HTTPCore
internal import PawlConfiguration
internal import System
internal import Terminal

/// One run of `pawl get`: its engine and its downloads.
struct GetSession {
    private let directories: Directories
    private let client: HTTPClient
    private let downloads: DownloadService
    private let urls: [HTTPURL]
    private let checksum: Checksum?
    private let headers: RequestHeaders
    /// Whether an origin that cannot be reached at first is asked again.
    private let retries: Bool
    /// The mode of finished files. The engine creates private files; those in the user's directory get the usual mode.
    private let fileMode: UInt32

    /// The directories of a run: the target directory, and a hidden one in it.
    struct Directories {
        /// The path of the target directory.
        let path: String
        /// The name of the only file; `nil` if the origin or the URL decides.
        let output: String?
        /// The path of the hidden directory.
        let workPath: String
        /// The opened target directory. Its path may come to mean another directory meanwhile.
        let target: Directory
        /// The opened hidden directory, to which no other user can write.
        let work: Directory

        /// Opens both directories; creates missing ones.
        init(_ invocation: Invocation) throws(ClaimError) {
            (path, output) = GetSession.target(invocation.output, in: invocation.directory)
            workPath = path + "/" + GetCommand.workDirectory
            do throws(SmallFile.Failure) {
                try SmallFile.makeDirectory(path)
            } catch {
                throw ClaimError(error.description)
            }
            target = try Directory(claimingIn: path)
            if let output, let found = try? target.status(of: output), found.kind == .other || found.kind == .directory {
                // A rename would replace a device such as /dev/null.
                let kind = found.kind == .directory ? "a directory" : "a pipe, a socket or a device"
                throw ClaimError(
                    "\(SmallFile.path(of: output, in: path)) is \(kind): -o takes the name of a file", isRefusal: true)
            }
            work = try target.claimDirectory(GetCommand.workDirectory, at: workPath)
        }

        /// The path of a file, for messages.
        func path(of name: String) -> String { SmallFile.path(of: name, in: path) }

        /// The status of a finished file in the hidden directory.
        func finished(_ name: String) -> FileStatus? { try? work.openDirectory("files").status(of: name) }

        /// Moves a finished file to the target directory. A name from the origin never replaces a file; a name from the
        /// user does.
        /// - Returns: The path of the file, for messages.
        func save(_ name: String, mode: UInt32) throws(SystemError) -> String {
            let files = try work.openDirectory("files")
            try files.open(name, .reading).setPermissions(mode)
            if let output {
                try files.rename(name, to: target, as: output)
                return path(of: output)
            }
            var candidate = name
            while try !files.renameIfFree(name, to: target, as: candidate) { candidate = GetSession.numbered(candidate) }
            return path(of: candidate)
        }

        /// Removes the hidden directory, if it only contains the engine's own files.
        func removeWork() {
            for name in ["pawl.sqlite", "pawl.sqlite-wal", "pawl.sqlite-shm", "in-transfer"] { _ = try? work.remove(name) }
            for name in ["incomplete", "files"] { try? work.removeDirectory(name) }
            guard let own = try? work.status().identity, let found = try? target.status(of: GetCommand.workDirectory),
                found.identity.isSameFile(as: own)
            else { return }
            try? target.removeDirectory(GetCommand.workDirectory)
        }
    }

    /// Opens the engine. Downloads begin with `run`.
    /// - Parameter directories: The directories of the run.
    init(_ invocation: Invocation, urls given: [HTTPURL], in directories: Directories) async throws(StartError) {
        var configuration = invocation.configuration
        // Each run has its own options, instead of those that an interrupted run has stored.
        configuration.explicitSettings = Set(ServiceSettings.Name.allCases)
        checksum = invocation.checksum.flatMap { try? Checksum(parsing: $0) }
        headers = invocation.headers
        retries = invocation.retries
        var urls: [HTTPURL] = []
        var known: Set<HTTPURL> = []
        for url in given where known.insert(url).inserted {
            urls.append(url)
            // The user chose the URL's host, so it is allowed; the destination guard still checks redirects.
            configuration.allowedDestinations.append(DestinationRule(url))
        }
        self.urls = urls
        fileMode = SmallFile.defaultMode()
        self.directories = directories
        configuration.dataDirectory = directories.workPath
        configuration.claimedDirectory = directories.work
        let client = try configuration.makeClient()
        let log = Log(level: configuration.logLevel, format: configuration.logFormat)
        do throws(DownloadsStartError) {
            downloads = try await DownloadService(
                configuration: DownloadsConfiguration(configuration), client: client,
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
        var pending: [DownloadID] = []
        var isComplete = true
        // Records of saved files are removed once all downloads are complete.
        var saved: [DownloadID] = []
        for url in urls {
            do throws(DownloadError) {
                pending.append(try await begin(url))
            } catch {
                isComplete = false
                reportFailure(of: url.withoutUserInfo.string, name: nil, error.code, error.description, nil, &display)
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
    private func begin(_ url: HTTPURL) async throws(DownloadError) -> DownloadID {
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
        var new = NewDownload(url: shown, filename: nil)
        new.checksum = checksum
        new.headers = headers(for: url)
        return try await downloads.add(new).download.id
    }

    /// Gives a download of an earlier run the header fields of this one. The earlier ones may have been wrong.
    private func renewHeaders(of id: DownloadID, for url: HTTPURL) async throws(DownloadError) {
        var change = DownloadChange()
        change.url = url.withoutUserInfo
        change.headers = headers(for: url)
        if !change.headers.isEmpty { _ = try await downloads.change(id, change) }
    }

    /// The header fields for a URL. User and password in it do not replace those of an option.
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
        guard let name = directories.output ?? download.filename, let found = try? directories.target.status(of: name),
            found.kind == .regular, found.isOwn, found.identity.size == download.bytesReceived
        else { return nil }
        return directories.path(of: name)
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
            let reason = "cannot move the file to \(directories.path(of: directories.output ?? name)): \(error)"
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

    /// The directory and, if given, the name of a file.
    /// - Parameters:
    ///   - output: A name or a path, relative to the directory unless it begins with a slash.
    ///   - directory: The directory of files without a path.
    static func target(_ output: String?, in directory: String) -> (directory: String, name: String?) {
        guard let output else { return (directory, nil) }
        let (folder, name) = SmallFile.parts(of: output.hasPrefix("/") || directory == "." ? output : directory + "/" + output)
        return (folder, name)
    }

    /// The next name to try: `a (2).txt` after `a.txt`, then `a (3).txt`.
    static func numbered(_ name: String) -> String {
        let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 } ?? name.endIndex
        var stem = name[..<dot]
        var number = 2
        // Only a number in the form written here is incremented.
        if stem.last == ")", let open = stem.lastIndex(of: "("), stem[..<open].last == " ",
            let last = Int(stem[open...].dropFirst().dropLast()), (2...9999).contains(last)
        {
            stem = stem[..<open].dropLast()
            number = last + 1
        }
        let tail = " (\(number))\(name[dot...])"
        // The name may already have the maximum length of the file system.
        while !stem.isEmpty, stem.utf8.count + tail.utf8.count > max(name.utf8.count, 128) { stem.removeLast() }
        return "\(stem)\(tail)"
    }
}

extension DownloadError {
    /// The code in the output of `--json`: that of the service's problem with the same cause.
    fileprivate var code: String {
        switch self {
        case .destinationForbidden: "destination-forbidden"
        case .invalid: "invalid-request"
        case .insufficientStorage: "insufficient-storage"
        case .overloaded, .directoryAway, .unconfirmed, .shuttingDown: "unavailable"
        // Other errors only occur with requests to a service, so here they are faults of the engine.
        default: "internal-error"
        }
    }
}
