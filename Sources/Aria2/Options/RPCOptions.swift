internal import DownloadCore
internal import HTTPCore
internal import JSON
internal import System

/// The options of `addUri` and `changeOption`.
struct RPCOptions {
    /// The folder for `dir`; `nil` if it was not given.
    let folder: String?
    /// The folder that `out` names, below the download's folder; empty if it names none.
    private let outFolder: String
    /// `split` and `max-connection-per-server`.
    private let split: Int64?
    private let connectionsPerServer: Int64?
    /// The choices for new and for changed downloads: the name in `out`; `max-download-limit`; `connect-timeout` and
    /// `timeout`, which is for heads and bodies; `max-tries` (0: for ever) and `retry-wait` (0: the service chooses the delay).
    private(set) var common = DownloadOptions()
    private let reader: OptionReader

    init(_ members: [JSONMember], in files: FilesDirectory) throws(RPCError) {
        reader = try OptionReader(members)
        folder = try reader.text("dir").map { directory throws(RPCError) in
            directory.isEmpty ? "" : try files.folder(ofDirectory: directory)
        }
        let path = reader.text("out") ?? ""
        let names = Self.names(path)
        outFolder = names.dropLast().joined(separator: "/")
        split = reader.number("split")
        connectionsPerServer = reader.number("max-connection-per-server")
        if !path.isEmpty {
            try Self.check(names)
            common.filename = names.last
        }
        common.speedLimit = reader.number("max-download-limit")
        let timeout = reader.number("timeout").map(Int.init(clamping:))
        let timeouts = Timeouts(
            connect: reader.number("connect-timeout").map(Int.init(clamping:)), response: timeout, stall: timeout)
        let retry = RetryChoice(
            attempts: reader.number("max-tries").map {
                $0 == 0 ? RetryChoice.forEver : RetryChoice.attemptLimits.nearest(to: Int(clamping: $0))
            },
            longestDelay: reader.number("retry-wait").flatMap {
                $0 == 0 ? nil : RetryChoice.delays.nearest(to: Int(clamping: $0))
            })
        if !timeouts.isEmpty { common.timeouts = timeouts }
        if !retry.isEmpty { common.retry = retry }
    }

    /// Returns the names of a path without a `.` for the same folder: `./a/./b` is `a/b`.
    private static func names(_ path: String) -> [String] {
        let names = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        return names.dropLast().filter { $0 != "." } + names.suffix(1)
    }

    /// Refuses a path that leaves the directory, or is not a valid file name.
    private static func check(_ names: [String]) throws(RPCError) {
        let fault =
            if names.count == 1 {
                FileNaming.objection(to: names[0], called: "'out'")
            } else {
                FileNaming.objection(toFolder: names.joined(separator: "/"), called: "'out'")
            }
        if let fault {
            throw .badOption(
                "out", "The service refuses it: \(fault). It takes a name, or a path below the download's directory.")
        }
    }

    /// The folder of the file; `nil` if the options do not set it.
    /// - Parameter usual: The folder that contains `out` if `dir` was not given.
    private func folder(in usual: String) -> String? {
        if outFolder.isEmpty { return folder }
        let outer = folder ?? usual
        return outer.isEmpty ? outFolder : "\(outer)/\(outFolder)"
    }

    /// The number of connections for the file; `nil` if the options do not set it.
    /// - Parameter usual: The value of the option that is not given.
    func segments(usual: Int) -> Int? {
        guard split != nil || connectionsPerServer != nil else { return nil }
        return Int(min(split ?? Int64(usual), connectionsPerServer ?? Int64(usual), Int64(DownloadLimits.segments.upperBound)))
    }

    /// The maximum number of URIs of a download: its URL and its mirrors.
    static let maximumURIs = DownloadLimits.mirrors + 1

    /// The download that `addUri` asks for.
    /// - Parameters:
    ///   - addresses: The URLs of one file; invalid ones are ignored, as in aria2.
    ///   - position: The position in the queue; `nil` for its end.
    ///   - usualSegments: The number of connections for a file in the settings.
    func download(of addresses: [String], position: Int?, usualSegments: Int) throws(RPCError) -> NewDownload {
        guard !addresses.isEmpty else { throw RPCError("URI is not provided.") }
        let urls = addresses.compactMap(PastedURL.parse)
        guard let url = urls.first else {
            // A magnet link is a URI, so "No URI" alone would not explain the refusal.
            if let text = addresses.first(where: { $0.lowercased().hasPrefix("http://") || $0.lowercased().hasPrefix("https://") }
            ) {
                throw RPCError("No URI to download: the URL \(HTTPURL.fault(of: text)).")
            }
            let isForeign = addresses.contains { $0.contains("://") || $0.hasPrefix("magnet:") }
            throw RPCError(isForeign ? "No URI to download: only http and https URLs can be downloaded." : "No URI to download.")
        }
        guard urls.count <= Self.maximumURIs else { throw RPCError("A download has at most \(Self.maximumURIs) URIs.") }
        var options = common
        options.onDuplicate = .new
        options.mirrors = urls.dropFirst().map(\.withoutUserInfo)
        options.folder = folder(in: "")
        options.headers = try RequestFields.read(reader, for: url)
        options.checksum = try checksum
        options.segments = segments(usual: usualSegments)
        options.remoteTime = reader.number("remote-time").map { $0 == 1 }
        options.startsPaused = reader.isTrue("pause")
        options.gid = try gid
        options.position = position
        return NewDownload(url: url.withoutUserInfo, options)
    }

    /// `sha-256=<hex>`
    private var checksum: Checksum? {
        get throws(RPCError) {
            guard let text = reader.text("checksum"), !text.isEmpty else { return nil }
            guard let equals = text.firstIndex(of: "="),
                let checksum = try? Checksum(parsing: "\(text[..<equals]):\(text[text.index(after: equals)...])")
            else { throw .badOption("checksum") }
            return checksum
        }
    }

    private var gid: DownloadGID? {
        get throws(RPCError) {
            guard let text = reader.text("gid") else { return nil }
            guard let gid = DownloadGID(text), gid.value != 0 else {
                throw .badOption("gid", "It takes 16 hexadecimal digits, not all 0.")
            }
            return gid
        }
    }

    /// The change that `changeOption` asks for. Other options have no effect after a download has been added.
    /// - Parameters:
    ///   - current: The download.
    ///   - usualSegments: The number of connections for a file in the settings.
    func change(of current: Download, usualSegments: Int) -> DownloadChange {
        var change = DownloadChange()
        change.options = common
        change.folder = folder(in: current.folder)
        change.segments = segments(usual: usualSegments)
        change.timeouts = common.timeouts.map {
            Timeouts(
                connect: $0.connect ?? current.timeouts.connect, response: $0.response ?? current.timeouts.response,
                stall: $0.stall ?? current.timeouts.stall)
        }
        change.retry = common.retry.map {
            RetryChoice(
                attempts: $0.attempts ?? current.retry.attempts, longestDelay: $0.longestDelay ?? current.retry.longestDelay,
                statuses: current.retry.statuses)
        }
        return change
    }
}

/// The options of `changeGlobalOption`.
struct GlobalOptions {
    /// The settings to change, each clamped to its range.
    let values: [ServiceSettings.Name: Int64]

    init(_ members: [JSONMember], in files: FilesDirectory) throws(RPCError) {
        let options = try RPCOptions(members, in: files)
        guard options.folder ?? "" == "" else {
            throw .badOption("dir", "It is \(files.path). Only the service's own options change it.")
        }
        let reader = try OptionReader(members)
        var values: [ServiceSettings.Name: Int64] = [:]
        func set(_ name: ServiceSettings.Name, _ value: Int64?) {
            if let value { values[name] = name.range.nearest(to: value) }
        }
        set(.maxConcurrent, reader.number("max-concurrent-downloads"))
        set(.speedLimit, reader.number("max-overall-download-limit"))
        set(.segments, options.segments(usual: Int.max).map(Int64.init))
        self.values = values
    }
}

/// The options in answers: names and values, ordered by name.
enum ReportedOptions {
    /// The options with a fixed value.
    private static let always = [
        ("allow-overwrite", "false"), ("always-resume", "true"), ("auto-file-renaming", "true"), ("continue", "true"),
        ("follow-metalink", "false"), ("follow-torrent", "false"), ("piece-length", "1048576"),
    ]

    /// The options of one download: those that were given, without secrets, and those in effect.
    static func download(
        _ details: DownloadDetails, in files: FilesDirectory, usualSegments: Int, usualRemoteTime: Bool, hidesSecrets: Bool
    ) -> [(String, String)] {
        let download = details.download
        let segments = String(details.requestedSegments ?? usualSegments)
        var options = always
        options.append(("dir", files.directory(ofFolder: download.folder)))
        options.append(("max-connection-per-server", segments))
        options.append(("max-download-limit", String(download.speedLimit)))
        options.append(("split", segments))
        options.append(("remote-time", String(download.remoteTime ?? usualRemoteTime)))
        let timeouts = download.timeouts
        if let connect = timeouts.connect { options.append(("connect-timeout", String(connect))) }
        if let timeout = timeouts.response, timeout == timeouts.stall { options.append(("timeout", String(timeout))) }
        if let attempts = download.retry.attempts {
            // Aria2's 0 is for ever, and its 1 is without retries.
            options.append(("max-tries", attempts == RetryChoice.forEver ? "0" : String(max(attempts, 1))))
        }
        if let wait = download.retry.longestDelay { options.append(("retry-wait", String(min(wait, 600)))) }
        if let name = details.requestedFilename { options.append(("out", name)) }
        if let checksum = download.checksum {
            options.append(("checksum", "\(checksum.algorithm.rawValue)=\(Hexadecimal.encode(checksum.bytes))"))
        }
        var lines: [String] = []
        for (name, value) in details.headers {
            let value = hidesSecrets ? HTTPURL.withoutSecrets(in: value) : value
            switch name.lowercased() {
            case "user-agent": options.append(("user-agent", value))
            case "referer": options.append(("referer", value))
            default: lines.append("\(name): \(value)")
            }
        }
        if !lines.isEmpty { options.append(("header", lines.joined(separator: "\n") + "\n")) }
        return options.sorted { $0.0 < $1.0 }
    }

    /// The options of the service.
    static func global(_ settings: ServiceSettings, remoteTime: Bool, in files: FilesDirectory) -> [(String, String)] {
        let options =
            always + [
                ("check-certificate", "true"), ("dir", files.path), ("enable-rpc", "true"),
                ("max-concurrent-downloads", String(settings.maxConcurrent)),
                ("max-connection-per-server", String(settings.segments)), ("max-download-limit", "0"),
                ("max-download-result", String(DownloadView.maximumStopped)),
                ("max-overall-download-limit", String(settings.speedLimit)), ("max-overall-upload-limit", "0"),
                ("remote-time", String(remoteTime)), ("split", String(settings.segments)),
            ]
        return options.sorted { $0.0 < $1.0 }
    }
}
