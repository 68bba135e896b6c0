internal import DownloadCore
internal import DownloadIndex
internal import JSON

/// The result of a call.
indirect enum Answer: Sendable {
    case ok
    case gid(DownloadGID)
    case number(Int)
    case numbers([Int])
    /// Without details, the download's URL is its only source.
    case status(Download, StatusKeys, DownloadDetails?)
    case statuses([Download], StatusKeys)
    case files(DownloadDetails)
    case uris(DownloadDetails)
    case servers([DownloadDetails.Connection])
    case noPeers
    case options([(String, String)])
    case statistics(DownloadStatistics)
    case version
    case session(String)
    case names([String])
    case results([Result<Answer, RPCError>])
}

extension Answer {
    /// The emulated version of aria2, which clients request to find out about features.
    static let spokenVersion = "1.37.0"
    /// The listed features: none for which clients would offer torrents.
    private static let features = ["Async DNS", "GZip", "HTTPS", "Message Digest"]

    /// The maximum size in bytes of a message's results: 40 MiB. A result that exceeds it is replaced by an error.
    static let maximumBytes = 40 << 20

    func encode(into writer: inout some ValueWriter, _ view: DownloadView) {
        switch self {
        case .ok: writer.value("OK")
        case .gid(let gid): writer.value(gid.description)
        case .number(let number): writer.value(number)
        case .numbers(let numbers): writer.list(numbers) { $0.value($1) }
        case .status(let download, let keys, let details): view.encode(download, keys, details, into: &writer)
        case .statuses(let downloads, let keys):
            writer.list(downloads) { writer, download in
                // Stops at the limit: a result that exceeds it is removed again.
                if writer.bytes.count <= Self.maximumBytes { view.encode(download, keys, into: &writer) }
            }
        case .files(let details): view.encodeFiles(of: details.download, details, into: &writer)
        case .uris(let details): DownloadView.encodeURIs(of: details.download, details, into: &writer)
        case .servers(let connections): Self.encode(connections, into: &writer)
        case .noPeers: writer.list([Int]()) { _, _ in }
        case .options(let options):
            writer.beginObject()
            for (name, value) in options { writer.member(name, value) }
            writer.endObject()
        case .statistics(let statistics): Self.encode(statistics, into: &writer)
        case .version:
            writer.beginObject()
            writer.name("enabledFeatures")
            writer.list(Self.features) { $0.value($1) }
            writer.member("version", Self.spokenVersion)
            writer.endObject()
        case .session(let id):
            writer.beginObject()
            writer.member("sessionId", id)
            writer.endObject()
        case .names(let names): writer.list(names) { $0.value($1) }
        case .results(let results): writer.list(results) { Self.encode($1, into: &$0, view) }
        }
    }

    /// Writes one result of a `system.multicall`: a list of one element, or an error.
    private static func encode(
        _ result: Result<Answer, RPCError>, into writer: inout some ValueWriter, _ view: DownloadView
    ) {
        switch result {
        case .success(let answer):
            let fits = writer.attempt(limit: maximumBytes) { $0.list(CollectionOfOne(answer)) { $1.encode(into: &$0, view) } }
            if !fits { writer.value(RPCError.tooLarge) }
        case .failure(let error): writer.value(error)
        }
    }

    private static func encode(_ connections: [DownloadDetails.Connection], into writer: inout some ValueWriter) {
        writer.beginArray()
        writer.beginObject()
        writer.figure("index", 1)
        writer.name("servers")
        writer.list(connections) { writer, connection in
            writer.beginObject()
            writer.member("currentUri", connection.currentURL)
            writer.figure("downloadSpeed", connection.bytesPerSecond)
            writer.member("uri", connection.url)
            writer.endObject()
        }
        writer.endObject()
        writer.endArray()
    }

    private static func encode(_ statistics: DownloadStatistics, into writer: inout some ValueWriter) {
        func count(_ states: DownloadState...) -> Int64 {
            states.reduce(0) { $0 + Int64(statistics.counts[$1] ?? 0) }
        }
        let stopped = count(.completed, .failed, .cancelled)
        writer.beginObject()
        writer.figure("downloadSpeed", statistics.bytesPerSecond)
        writer.figure("numActive", count(.downloading, .retrying))
        writer.figure("numStopped", min(stopped, Int64(DownloadView.maximumStopped)))
        writer.figure("numStoppedTotal", stopped)
        writer.figure("numWaiting", count(.queued, .paused))
        writer.figure("uploadSpeed", 0)
        writer.endObject()
    }
}

extension JSONWriter {
    private mutating func member(_ error: RPCError) {
        name("error")
        value(error)
    }

    /// Writes the response to one call (JSON-RPC 2.0 §5).
    mutating func response(to id: [UInt8], _ result: Result<Answer, RPCError>, _ view: DownloadView) {
        beginObject()
        name("id")
        raw(id)
        member("jsonrpc", "2.0")
        switch result {
        case .success(.results(let results)):
            // The limit is checked for each of them.
            name("result")
            Answer.results(results).encode(into: &self, view)
        case .success(let answer):
            let fits = attempt(limit: Answer.maximumBytes) { writer in
                writer.name("result")
                answer.encode(into: &writer, view)
            }
            if !fits { member(.tooLarge) }
        case .failure(let error): member(error)
        }
        endObject()
    }
}
