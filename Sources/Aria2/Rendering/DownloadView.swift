internal import DownloadCore
internal import System

/// A download's state in aria2's terms.
enum Aria2Status: String, Sendable {
    case active, waiting, paused, complete, error, removed

    init(_ state: DownloadState) {
        self =
            switch state {
            case .downloading, .retrying: .active
            case .queued: .waiting
            case .paused: .paused
            case .completed: .complete
            case .failed: .error
            case .cancelled: .removed
            }
    }
}

/// Downloads in aria2's representation: all numbers are strings, and members are ordered by name.
struct DownloadView: Sendable {
    let files: FilesDirectory

    /// The maximum number of ended downloads in answers, as in aria2: clients poll all of them.
    static let maximumStopped = 1_000
    /// The maximum number of live downloads in one answer.
    static let maximumLive = 10_000

    func encode(_ download: Download, _ keys: StatusKeys, _ details: DownloadDetails? = nil, into writer: inout some ValueWriter)
    {
        let pieces = Pieces(of: download.totalLength)
        writer.beginObject()
        if keys.contains(.bitfield), pieces.count > 0 {
            writer.member("bitfield", Hexadecimal.encode(pieces.bitfield(of: download.completeRanges)))
        }
        if keys.contains(.completedLength) { writer.figure("completedLength", download.bytesReceived) }
        if keys.contains(.connections) {
            writer.figure("connections", download.state == .downloading ? Int64(download.segments) : 0)
        }
        if keys.contains(.dir) { writer.member("dir", files.directory(ofFolder: download.folder)) }
        if keys.contains(.downloadSpeed) { writer.figure("downloadSpeed", download.bytesPerSecond) }
        if !download.state.isLive {
            if keys.contains(.errorCode) { writer.figure("errorCode", download.errorCode) }
            if keys.contains(.errorMessage) { writer.member("errorMessage", download.error?.message ?? "") }
        }
        if keys.contains(.files) {
            writer.name("files")
            encodeFiles(of: download, details, into: &writer)
        }
        if keys.contains(.gid) { writer.member("gid", download.gid.description) }
        if keys.contains(.numPieces) { writer.figure("numPieces", Int64(pieces.count)) }
        if keys.contains(.pieceLength) { writer.figure("pieceLength", pieces.length) }
        if keys.contains(.status) { writer.member("status", Aria2Status(download.state).rawValue) }
        if keys.contains(.totalLength) { writer.figure("totalLength", download.totalLength ?? 0) }
        if keys.contains(.uploadLength) { writer.figure("uploadLength", 0) }
        if keys.contains(.uploadSpeed) { writer.figure("uploadSpeed", 0) }
        writer.endObject()
    }

    /// Writes the list of files, which always has one element.
    func encodeFiles(of download: Download, _ details: DownloadDetails?, into writer: inout some ValueWriter) {
        writer.beginArray()
        writer.beginObject()
        writer.figure("completedLength", download.bytesReceived)
        writer.figure("index", 1)
        writer.figure("length", download.totalLength ?? 0)
        writer.name("path")
        if let filename = download.filename {
            writer.value("\(files.directory(ofFolder: download.folder))/\(filename)")
        } else {
            writer.value("")
        }
        writer.member("selected", "true")
        writer.name("uris")
        Self.encodeURIs(of: download, details, into: &writer)
        writer.endObject()
        writer.endArray()
    }

    /// Writes the list of URIs with their status.
    static func encodeURIs(of download: Download, _ details: DownloadDetails?, into writer: inout some ValueWriter) {
        var sources = details?.sources.map { (url: $0.url, isUsed: $0.isUsed) } ?? [(download.url, false)]
        // The first source is the download's own URL, which is requested first.
        if download.attempts > 0, !sources.isEmpty { sources[0].isUsed = true }
        writer.beginArray()
        for source in sources {
            writer.beginObject()
            writer.member("status", source.isUsed ? "used" : "waiting")
            writer.member("uri", source.url)
            writer.endObject()
        }
        writer.endArray()
    }
}

extension Download {
    /// Bytes of the file; `nil` while unknown.
    fileprivate var totalLength: Int64? { state == .completed ? bytesReceived : bytesTotal }

    /// The received byte ranges; the whole file of a completed download.
    fileprivate var completeRanges: [Range<Int64>] {
        if state == .completed { return [0..<bytesReceived] }
        return receivedRanges
    }

    /// The exit status of aria2c (its manual page) that best describes the end of the download.
    var errorCode: Int64 {
        switch state {
        case .completed: return 0
        case .cancelled: return 31
        default: break
        }
        guard let error else { return 1 }
        switch error.code {
        case .httpStatus:
            switch error.httpStatus {
            case 404: return 3
            case 401: return 24
            case 429, 502, 503, 504: return 29
            default: return 22
            }
        case .timedOut: return 2
        case .connectionFailed, .transferBroken, .unexpectedEmpty: return 6
        case .tooManyRedirects: return 23
        case .checksumMismatch: return 32
        case .insufficientStorage: return 9
        case .entityChanged: return 8
        case .ioError: return 17
        case .destinationForbidden, .mediaTypeMismatch, .unsupportedEncoding, .tlsFailure: return 1
        }
    }
}
