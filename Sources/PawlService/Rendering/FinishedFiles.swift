internal import Downloads
internal import HTTPCore
internal import HTTPServer

/// What answers with finished files say of them, as it was written last: for about 1,000 files, in 1 MiB.
final class FinishedFiles: Sendable {
    /// One of them.
    struct File: Sendable {
        let path: String
        let mediaType: String
        let etag: EntityTag?
        /// Whether it was not there when it was looked for last.
        let isMissing: Bool
        /// The fields of an answer that a browser saves, and of one that it shows.
        let attachment: Fields
        let inline: Fields
        /// About how many bytes that takes, but for what all have in common.
        let size: Int
        /// How long the file was when it was completed, and when that was, in milliseconds since 1970.
        fileprivate let length: Int64
        fileprivate let completed: Int64

        /// Whether an open file is the one that was completed, as far as its length and its time tell. One that somebody wrote to
        /// since is another version, and the digest that is known is not its.
        func isUnchanged(_ file: FileHandle) -> Bool {
            file.size == length && file.modifiedSeconds * 1000 <= completed + FinishedFiles.clockTolerance
        }
    }

    /// What one takes besides its texts, about.
    private static let overhead = 512
    /// By how much the clock of a file system may be ahead of ours, in milliseconds.
    fileprivate static let clockTolerance: Int64 = 2000

    private let cache = VersionCache<File>(capacity: 1 << 20)
    private let directory: String
    /// What all of them say.
    private let common: Fields

    /// - Parameters:
    ///   - directory: where the files are.
    ///   - isShared: whether pages of other origins may embed them.
    init(in directory: String, isShared: Bool) {
        self.directory = directory
        var common = Fields()
        common.append(
            .contentSecurityPolicy,
            "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'"
        )
        if isShared { common.append(.crossOriginResourcePolicy, "cross-origin") }
        common.append(.cacheControl, "private, no-cache")
        self.common = common
    }

    /// The file of a download, whose version is known.
    func file(_ version: DownloadVersion) -> File? {
        cache.find(version)
    }

    /// The file of a download that is completed, under its name.
    func file(of download: Download, named name: String) -> File {
        let mediaType = download.mediaType ?? "application/octet-stream"
        let dispositions = (
            attachment: ContentDisposition.attachment(filename: name), inline: ContentDisposition.inline(filename: name)
        )
        var attachment = common
        attachment.append(.contentDisposition, dispositions.attachment)
        var inline = common
        inline.append(.contentDisposition, dispositions.inline)
        let file = File(
            path: directory + "/" + name, mediaType: mediaType, etag: download.sha256.map { EntityTag(opaque: $0) },
            isMissing: download.fileMissing, attachment: attachment, inline: inline,
            size: name.utf8.count + mediaType.utf8.count + dispositions.attachment.utf8.count + dispositions.inline.utf8.count,
            length: download.bytesReceived, completed: download.completedAt?.millisecondsSinceEpoch ?? .max / 2)
        if let version = download.version { cache.keep(file, version, cost: file.size + Self.overhead) }
        return file
    }
}
