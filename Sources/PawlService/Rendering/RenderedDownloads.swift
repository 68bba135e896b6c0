internal import DownloadCore
internal import DownloadFeed
internal import Downloads
internal import HTTPCore
internal import JSON

/// Versions of downloads as JSON: a cache of about 2,000 versions in at most 2 MiB. Responses, lists, long polls and
/// event streams share it.
final class RenderedDownloads: Sendable {
    /// A resource and its validator.
    struct Rendering: Sendable {
        /// The JSON object with `null` as its position.
        fileprivate let text: [UInt8]
        /// The validator of the resource without its position, which changes when other downloads move.
        let etag: EntityTag
        /// The fields of a response with this resource.
        let fields: Fields
        /// The offset of the value of `position`.
        fileprivate let positionOffset: Int
        /// The number of downloads that precede this one in the queue; `nil` if it is not in the queue.
        fileprivate var position: Int?

        /// The JSON object.
        var bytes: [UInt8] {
            var bytes: [UInt8] = []
            append(to: &bytes)
            return bytes
        }

        /// Appends the JSON object.
        func append(to bytes: inout [UInt8]) {
            guard let position else {
                bytes.append(contentsOf: text)
                return
            }
            bytes.append(contentsOf: text[..<positionOffset])
            Self.append(position, to: &bytes)
            bytes.append(contentsOf: text[(positionOffset + RenderedDownloads.nowhere)...])
        }

        private static func append(_ number: Int, to bytes: inout [UInt8]) {
            if number >= 10 { append(number / 10, to: &bytes) }
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
        }

        fileprivate func at(_ position: Int?) -> Rendering {
            var rendering = self
            rendering.position = position
            return rendering
        }
    }

    /// The length of `null`, the value of an absent position.
    private static let nowhere = 4

    /// The approximate size in bytes of an entry without its text.
    private static let overhead = 256

    /// The prefix of the links.
    let linkPrefix: PathPrefix
    private let cache = VersionCache<Rendering>(capacity: 2 << 20)
    /// Whether possible secrets in URLs are left out, for callers without scope `full`. The bytes differ, and so do the
    /// validators.
    private let hidesSecrets: Bool

    /// Creates an empty cache.
    init(linkPrefix: PathPrefix = .none, hidesSecrets: Bool = false) {
        self.linkPrefix = linkPrefix
        self.hidesSecrets = hidesSecrets
    }

    /// The current rendering of a download; `nil` if there is no download with this id.
    func rendering(of id: DownloadID, in index: SnapshotIndex) -> Rendering? {
        if let (version, position) = index.versionAndPosition(of: id), let found = rendering(of: version) {
            return found.at(position)
        }
        return index.download(id).map(rendering(of:))
    }

    /// The cached rendering of a version, without a position; `nil` if it is not cached.
    func rendering(of version: DownloadVersion) -> Rendering? {
        cache.find(version)
    }

    /// The rendering of a download, from the cache or newly written.
    func rendering(of download: Download) -> Rendering {
        let version = download.version
        if let version, let found = rendering(of: version) { return found.at(download.position) }
        var visible = hidesSecrets ? download.withoutSecrets : download
        visible.position = nil
        var writer = JSONWriter()
        let positionOffset = visible.encode(into: &writer, linkPrefix)
        let bytes = writer.bytes
        let etag = ContentTag.of(bytes)
        var fields = Fields()
        fields.append(.cacheControl, "no-cache")
        fields.append(.contentType, "application/json")
        fields.append(.etag, etag)
        let rendering = Rendering(text: bytes, etag: etag, fields: fields, positionOffset: positionOffset)
        if let version { cache.keep(rendering, version, cost: bytes.count + Self.overhead) }
        return rendering.at(download.position)
    }
}
