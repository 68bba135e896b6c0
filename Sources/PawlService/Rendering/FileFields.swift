internal import DownloadCore
internal import HTTPCore
internal import System

/// Precomputed fields of responses with finished files: a cache of about 800 files in 1 MiB.
final class FileFields: Sendable {
    /// A finished file and the fields of its responses: an object, so that a copy costs one reference.
    final class File: VersionValue {
        let version: DownloadVersion
        let name: String
        let folder: String
        /// The identity of the file; `nil` if the file was missing at the last check.
        let identity: FileIdentity?
        let mediaType: String
        let etag: EntityTag?
        /// The fields of a response that a browser saves, and of a response that it displays.
        let attachment: Fields
        let inline: Fields
        /// The fields of a response with the whole file that a browser saves, as `Response.serve` sets them, and then
        /// ``attachment``.
        let whole: Fields
        let cost: Int

        fileprivate init(of download: Download, named name: String, common: Fields) {
            version = download.version ?? .none
            self.name = name
            folder = download.folder
            identity = download.fileMissing ? nil : download.file
            mediaType = download.mediaType ?? "application/octet-stream"
            etag = download.sha256.map { EntityTag(opaque: $0) }
            let dispositions = (
                attachment: ContentDisposition.attachment(filename: name), inline: ContentDisposition.inline(filename: name)
            )
            var attachment = common
            attachment.append(.contentDisposition, dispositions.attachment)
            self.attachment = attachment
            var whole = Fields()
            if let etag { whole.append(.etag, etag) }
            if let identity { whole.append(.lastModified, HTTPDate(secondsSinceEpoch: identity.modified / 1_000_000_000)) }
            whole.append(.acceptRanges, "bytes")
            whole.append(.contentType, mediaType)
            whole.append(contentsOf: attachment)
            self.whole = whole
            var inline = common
            inline.append(.contentDisposition, dispositions.inline)
            self.inline = inline
            cost =
                FileFields.overhead + name.utf8.count + folder.utf8.count + 2 * mediaType.utf8.count
                + 2 * dispositions.attachment.utf8.count + dispositions.inline.utf8.count
        }

        /// Whether a browser that displays the file runs nothing of it.
        var isHarmless: Bool {
            let type = mediaType.prefix { $0 != ";" && $0 != " " }.lowercased()
            let kind = type.prefix { $0 != "/" }
            return ["audio", "video"].contains(kind) || (kind == "image" && !type.hasSuffix("xml"))
                || ["text/plain", "application/pdf"].contains(type)
        }
    }

    /// The approximate size in bytes of a file without its texts. The common fields are not counted.
    private static let overhead = 1024

    private let cache = VersionCache<File>(capacity: 1 << 20)
    /// The fields of every response with a file.
    private let common: Fields

    init() {
        var common = Fields()
        common.append(
            .contentSecurityPolicy,
            "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'"
        )
        common.append(.cacheControl, "private, no-cache")
        self.common = common
    }

    /// The cached file of a download's version; `nil` if it is not cached.
    func file(_ version: DownloadVersion) -> File? {
        cache.find(version)
    }

    /// The file of a completed download, under its name.
    func file(of download: Download, named name: String) -> File {
        let file = File(of: download, named: name, common: common)
        if download.version != nil { cache.keep(file) }
        return file
    }
}
