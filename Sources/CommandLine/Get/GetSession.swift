internal import Downloads
internal import HTTPClient
internal import HTTPCore
internal import PawlConfiguration
internal import System
internal import Terminal

/// One run of `pawl get`: its engine, and the downloads it is about.
struct GetSession {
    private let place: Place
    private let client: HTTPClient
    private let downloads: DownloadService
    private let urls: [HTTPURL]
    private let checksum: Checksum?
    /// The engine keeps its files to itself; what is put into the user's directory is as other programs would make it.
    private let fileMode: UInt32

    /// Where a run works: the directory that files go to, and a hidden one in it.
    struct Place {
        /// The path of the directory that files go to.
        let path: String
        /// The name that the only file gets; `nil`: its own.
        let output: String?
        /// The path of the hidden directory.
        let workPath: String
        /// The directory that files go to, open. Another directory may get its path meanwhile.
        let target: Directory
        /// The hidden directory, open: no other user can write to it.
        let work: Directory

        /// Makes both directories where they are missing.
        init(_ invocation: Invocation) throws(ClaimError) {
            (path, output) = GetSession.target(invocation.output, in: invocation.directory)
            workPath = path + "/" + GetCommand.workDirectory
            do throws(SmallFile.Failure) {
                try SmallFile.makeDirectory(path)
            } catch {
                throw ClaimError(error.description)
            }
            target = try Directory(claimingIn: path)
            work = try target.claimDirectory(GetCommand.workDirectory, at: workPath)
        }

        /// The path of a file, for messages.
        func path(of name: String) -> String { SmallFile.path(of: name, in: path) }

        /// The status of a finished file in the hidden directory.
        func finished(_ name: String) -> FileStatus? { try? work.openDirectory("files").status(of: name) }

        /// Moves a finished file to the directory. A name of the origin's choice never replaces anything; one of the user's does.
        /// - Returns: the file's path, for messages.
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

        /// Removes the hidden directory, if it has only what the engine leaves behind.
        func removeWork() {
            for name in ["pawl.sqlite", "pawl.sqlite-wal", "pawl.sqlite-shm", "in-transfer"] { _ = try? work.remove(name) }
            for name in ["incomplete", "files"] { try? work.removeDirectory(name) }
            guard let own = try? work.status().identity, let found = try? target.status(of: GetCommand.workDirectory),
                found.identity.isSameFile(as: own)
            else { return }
            try? target.removeDirectory(GetCommand.workDirectory)
        }
    }

    /// Opens the engine; nothing is downloaded yet.
    /// - Parameter place: where it works.
    init(_ invocation: Invocation, urls given: [HTTPURL], in place: Place) async throws(StartError) {
        var configuration = invocation.configuration
        // Each run has its own options: those of an interrupted one are not kept.
        configuration.explicitSettings = Set(ServiceSettings.Name.allCases)
        checksum = invocation.checksum.flatMap { try? Checksum(parsing: $0) }
        var urls: [HTTPURL] = []
        var known: Set<HTTPURL> = []
        for url in given where known.insert(url).inserted {
            urls.append(url)
            // The user chose what the URL names; the destination guard still checks what it redirects to.
            configuration.allowedDestinations.append(DestinationRule(url))
        }
        self.urls = urls
        fileMode = SmallFile.defaultMode()
        self.place = place
        configuration.dataDirectory = place.workPath
        configuration.claimedDirectory = place.work
        let client = try configuration.makeClient()
        let log = Log(level: configuration.logLevel, format: configuration.logFormat)
        do throws(DownloadsStartError) {
            downloads = try await DownloadService(
                configuration: DownloadsConfiguration(configuration), client: client, log: { log.write($0) })
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
        // What is there when all is there needs no record any more.
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
                guard let download = downloads.index.download(id), !download.state.isLive else { continue }
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

    /// Checkpoints and closes everything; if nothing is left to be resumed, leaves no trace. Returns what there is to resume from,
    /// as the end of a sentence.
    @discardableResult
    func end() async -> String {
        await downloads.shutdown()
        client.shutdown()
        let left = downloads.index.page(ListQuery(limit: Int.max)).items.filter { $0.state != .completed || isWaiting($0) }
        guard left.isEmpty else {
            let wanted = Set(urls.map(\.withoutUserInfo.string))
            let bytes = left.filter { wanted.contains($0.url) }.reduce(Int64(0)) { $0 &+ $1.bytesReceived }
            return bytes > 0 ? ": \(HumanReadable.bytes(bytes)) are kept in \(place.workPath)" : ""
        }
        place.removeWork()
        return ""
    }

    /// Pauses what earlier runs left unfinished and this one does not want.
    private func setOthersAside() async {
        let wanted = Set(urls.map(\.withoutUserInfo.string))
        for download in downloads.index.live() where !wanted.contains(download.url) {
            _ = try? await downloads.perform(.pause, on: download.id)
        }
    }

    /// Goes on with what an earlier run began, or adds the URL.
    private func begin(_ url: HTTPURL) async throws(DownloadError) -> DownloadID {
        let shown = url.withoutUserInfo
        if let known = downloads.index.reference(toURL: shown.string) {
            switch known.state {
            // What was begun without this digest, or with another, would end by it.
            case _ where checksum != nil && downloads.index.download(known.id)?.checksum != checksum:
                try await downloads.remove(known.id, deletingFile: true)
            case .completed:
                if let download = downloads.index.download(known.id), isWaiting(download) || placed(download) != nil {
                    return known.id
                }
                try await downloads.remove(known.id, deletingFile: false)
            case .queued, .downloading, .retrying: return known.id
            case .paused, .failed: return try await downloads.perform(.resume, on: known.id).id
            case .cancelled: try await downloads.remove(known.id, deletingFile: false)
            }
        }
        var new = NewDownload(url: shown, filename: nil)
        new.checksum = checksum
        if let credentials = url.basicAuthorization { new.headers = [(name: "Authorization", value: credentials)] }
        return try await downloads.add(new).download.id
    }

    /// Whether its file is whole and still to be put to its place.
    private func isWaiting(_ download: Download) -> Bool {
        download.state == .completed && download.filename.flatMap(place.finished)?.kind == .regular
    }

    /// Where an interrupted run has put the file already, as far as name and length show. Its record stays until all that was asked for
    /// together is there, so that running the command again fetches only the rest.
    private func placed(_ download: Download) -> String? {
        guard let name = place.output ?? download.filename, let found = try? place.target.status(of: name),
            found.kind == .regular, found.isOwn, found.identity.size == download.bytesReceived
        else { return nil }
        return place.path(of: name)
    }

    /// Puts a finished file to its place, or says why there is none.
    private func finish(_ download: Download, _ display: inout ProgressDisplay) async -> Bool {
        guard download.state == .completed, let name = download.filename else {
            let reason = download.error?.message ?? "it is \(download.state.rawValue)"
            let code = download.error?.code.rawValue ?? download.state.rawValue
            reportFailure(of: download.url, name: download.filename, code, reason, download.error?.httpStatus, &display)
            // Nothing to resume from.
            if download.bytesReceived == 0 { try? await downloads.remove(download.id, deletingFile: false) }
            return false
        }
        if !isWaiting(download), let path = placed(download) {
            display.saved(download, at: path)
            return true
        }
        do throws(SystemError) {
            display.saved(download, at: try place.save(name, mode: fileMode))
        } catch {
            let reason = "cannot move the file to \(place.path(of: place.output ?? name)): \(error)"
            reportFailure(of: download.url, name: name, FailureCode.ioError.rawValue, reason, nil, &display)
            // Gone from where it was: the next run fetches it again.
            if error.kind == .notFound { try? await downloads.remove(download.id, deletingFile: false) }
            return false
        }
        return true
    }

    /// Reports a failure among the progress, and on standard error unless both are the same terminal.
    private func reportFailure(
        of url: String, name: String?, _ code: String, _ reason: String, _ httpStatus: Int?, _ display: inout ProgressDisplay
    ) {
        display.failed(url, name: name, code: code, reason: reason, httpStatus: httpStatus)
        guard !display.isTerminal || !StandardStreams.errorIsTerminal else { return }
        StandardStreams.writeError("\(UsageError("pawl: \(Log.withoutSecrets(url)): \(reason)"))\n")
    }

    /// The directory that a file goes to, and the name it gets there if it is given one.
    /// - Parameters:
    ///   - output: a name, or a path to one: from the directory on, unless it begins with a slash.
    ///   - directory: where files go that are given no path.
    static func target(_ output: String?, in directory: String) -> (directory: String, name: String?) {
        guard let output else { return (directory, nil) }
        let (folder, name) = SmallFile.parts(of: output.hasPrefix("/") || directory == "." ? output : directory + "/" + output)
        return (folder, name)
    }

    /// The next name to try: `a (2).txt` for `a.txt`, `a (3).txt` for that.
    static func numbered(_ name: String) -> String {
        let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 } ?? name.endIndex
        var stem = name[..<dot]
        var number = 2
        // Only what a number of ours looks like is taken for one.
        if stem.last == ")", let open = stem.lastIndex(of: "("), stem[..<open].last == " ",
            let last = Int(stem[open...].dropFirst().dropLast()), (2...9999).contains(last)
        {
            stem = stem[..<open].dropLast()
            number = last + 1
        }
        let tail = " (\(number))\(name[dot...])"
        // A long name may be as long as the file system takes.
        while !stem.isEmpty, stem.utf8.count + tail.utf8.count > max(name.utf8.count, 128) { stem.removeLast() }
        return "\(stem)\(tail)"
    }
}

extension DownloadError {
    /// What `--json` calls it: the code that the service's problem of the same cause has.
    fileprivate var code: String {
        switch self {
        case .destinationForbidden: "destination-forbidden"
        case .invalid: "invalid-request"
        case .insufficientStorage: "insufficient-storage"
        case .overloaded, .directoryAway, .unconfirmed, .shuttingDown: "unavailable"
        // What only a command or a request of the service can meet is a fault of the engine here.
        default: "internal-error"
        }
    }
}
