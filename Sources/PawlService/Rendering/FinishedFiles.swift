internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import System

/// What responses with finished files say of them, as it was written last: for about 1,000 files, in 1 MiB.
final class FinishedFiles: Sendable {
    /// One of them.
    struct File: Sendable {
        let name: String
        let folder: String
        /// Which file it is, if it was there when it was looked for last.
        let identity: FileIdentity?
        let mediaType: String
        let etag: EntityTag?
        /// The fields of a response that a browser saves, and of one that it shows.
        let attachment: Fields
        let inline: Fields
        /// Whether a browser that shows it runs nothing of it.
        var isHarmless: Bool {
            let type = mediaType.prefix { $0 != ";" && $0 != " " }.lowercased()
            let kind = type.prefix { $0 != "/" }
            return ["audio", "video"].contains(kind) || (kind == "image" && !type.hasSuffix("xml"))
                || ["text/plain", "application/pdf"].contains(type)
        }
        /// About how many bytes that takes, but for what all have in common.
        let size: Int
    }

    /// What one takes besides its texts, about.
    private static let overhead = 512

    private let cache = VersionCache<File>(capacity: 1 << 20)
    /// What all of them say.
    private let common: Fields

    /// - Parameter isShared: whether pages of other origins may embed them.
    init(isShared: Bool) {
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
            name: name, folder: download.folder, identity: download.fileMissing ? nil : download.file, mediaType: mediaType,
            etag: download.sha256.map { EntityTag(opaque: $0) }, attachment: attachment, inline: inline,
            size: name.utf8.count + download.folder.utf8.count + mediaType.utf8.count + dispositions.attachment.utf8.count
                + dispositions.inline.utf8.count)
        if let version = download.version { cache.keep(file, version, cost: file.size + Self.overhead) }
        return file
    }
}
