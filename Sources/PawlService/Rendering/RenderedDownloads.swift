internal import Downloads
internal import HTTPCore
internal import JSON

/// Versions of downloads as JSON, as they were written last: about 2,000 of them, in 2 MiB at most. Whoever shows one takes it from here:
/// responses, lists, long polls and event streams.
final class RenderedDownloads: Sendable {
    /// A resource and its validator.
    struct Rendering: Sendable {
        /// The JSON object, at no place in the queue.
        fileprivate let text: [UInt8]
        /// That of the resource without its position, which changes with others.
        let etag: EntityTag
        /// The fields of a response that shows it.
        let fields: Fields
        /// Where the value of its position begins.
        fileprivate let place: Int
        /// How many precede it in the queue.
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
            bytes.append(contentsOf: text[..<place])
            Self.append(position, to: &bytes)
            bytes.append(contentsOf: text[(place + RenderedDownloads.nowhere)...])
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

    /// How long the value is that stands for no position: `null`.
    private static let nowhere = 4

    /// What a rendering takes besides its bytes, about.
    private static let overhead = 256

    /// What their links begin with.
    let linkPrefix: PathPrefix
    private let cache = VersionCache<Rendering>(capacity: 2 << 20)
    /// Whether they are for those who must not see what may be secret in a URL. Their bytes, and so their validators, are others.
    private let hidesSecrets: Bool

    /// Nothing is written yet.
    init(linkPrefix: PathPrefix = .none, hidesSecrets: Bool = false) {
        self.linkPrefix = linkPrefix
        self.hidesSecrets = hidesSecrets
    }

    /// A download as it stands now, or `nil` if there is none with this id.
    func rendering(of id: DownloadID, in index: SnapshotIndex) -> Rendering? {
        if let (version, position) = index.versionAndPosition(of: id), let found = rendering(of: version) {
            return found.at(position)
        }
        return index.download(id).map(rendering(of:))
    }

    /// What was written of a version, at no place in the queue.
    func rendering(of version: DownloadVersion) -> Rendering? {
        cache.find(version)
    }

    /// Writes a download, or finds it written.
    func rendering(of download: Download) -> Rendering {
        let version = download.version
        if let version, let found = rendering(of: version) { return found.at(download.position) }
        var shown = hidesSecrets ? download.withoutSecrets : download
        shown.position = nil
        var writer = JSONWriter()
        let place = shown.encode(into: &writer, linkPrefix)
        let bytes = writer.bytes
        let etag = ContentTag.of(bytes)
        var fields = Fields()
        fields.append(.cacheControl, "no-cache")
        fields.append(.contentType, "application/json")
        fields.append(.etag, etag)
        let rendering = Rendering(text: bytes, etag: etag, fields: fields, place: place)
        if let version { cache.keep(rendering, version, cost: bytes.count + Self.overhead) }
        return rendering.at(download.position)
    }
}
