internal import Downloads
internal import HTTPClient
internal import HTTPCore
internal import PawlConfiguration
internal import System
internal import Terminal

/// One run of `pawl get`: its engine, and the downloads it is about.
struct GetSession {
    private let directory: String
    private let work: String
    private let output: String?
    private let client: HTTPClient
    private let downloads: DownloadService
    private let urls: [HTTPURL]
    private let checksum: Checksum?
    /// The engine keeps its files to itself; what is put into the user's directory is as other programs would make it.
    private let fileMode: UInt32

    /// Where a run works: the directory that files go to, and a hidden one in it.
    struct Place {
        let directory: String
        /// The name that the only file gets; `nil`: its own.
        let output: String?
        let work: String

        init(_ invocation: Invocation) {
            (directory, output) = GetSession.target(invocation.output, in: invocation.directory)
            work = directory + "/" + GetCommand.workDirectory
        }

        /// Makes both directories where they are missing.
        /// - Returns: why the hidden one must not be used, as a sentence.
        func make() throws(StartError) -> String? {
            do throws(SmallFile.Failure) {
                try SmallFile.makeDirectory(directory)
                return try SmallFile.claimDirectory(work)
            } catch {
                throw StartError(error.description)
            }
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
        (directory, output, work) = (place.directory, place.output, place.work)
        configuration.dataDirectory = work
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
            return bytes > 0 ? ": \(HumanReadable.bytes(bytes)) are kept in \(work)" : ""
        }
        for name in [
            "pawl.sqlite", "pawl.sqlite-wal", "pawl.sqlite-shm", "lock", "pawl.lock", "in-transfer", "incomplete", "files",
        ] {
            SmallFile.removeIfPossible(work + "/" + name)
        }
        SmallFile.removeIfPossible(work)
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
        download.state == .completed && download.filename.map { SmallFile.length(of: work + "/files/" + $0) != nil } == true
    }

    /// Where an interrupted run has put the file already, as far as name and length show. Its record stays until all that was asked for
    /// together is there, so that running the command again fetches only the rest.
    private func placed(_ download: Download) -> String? {
        guard let name = output ?? download.filename else { return nil }
        let path = path(of: name)
        return SmallFile.length(of: path) == download.bytesReceived ? path : nil
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
        do throws(SmallFile.Failure) {
            let path = try place(work + "/files/" + name, as: name)
            display.saved(download, at: path)
        } catch {
            reportFailure(of: download.url, name: name, FailureCode.ioError.rawValue, error.description, nil, &display)
            // Gone from where it was: the next run fetches it again.
            if error.isMissing { try? await downloads.remove(download.id, deletingFile: false) }
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
        let path = output.hasPrefix("/") || directory == "." ? output : directory + "/" + output
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[path.index(after: slash)...]))
    }

    /// Moves a file into the directory. A name of the origin's choice never replaces anything; one of the user's does.
    private func place(_ file: String, as name: String) throws(SmallFile.Failure) -> String {
        SmallFile.setMode(fileMode, of: file)
        if let output {
            try SmallFile.move(file, to: path(of: output))
            return path(of: output)
        }
        var candidate = name
        while try !SmallFile.moveExclusively(file, to: directory + "/" + candidate) { candidate = Self.numbered(candidate) }
        return path(of: candidate)
    }

    /// The path of a file in the directory, as it is shown.
    private func path(of name: String) -> String {
        directory == "." ? name : directory == "/" ? "/" + name : directory + "/" + name
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
