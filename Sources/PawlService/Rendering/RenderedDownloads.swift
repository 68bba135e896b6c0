internal import Downloads
internal import HTTPCore
internal import JSON

/// Versions of downloads as JSON, as they were written last: about 2,000 of them, in 2 MiB at most. Whoever shows one takes it from here:
/// responses, lists, long polls and event streams.
final class RenderedDownloads: Sendable {
    /// A resource and its validator.
    struct Rendering: Sendable {
        /// The JSON object.
        let bytes: [UInt8]
        let etag: EntityTag
        /// The fields of a response that shows it.
        let fields: Fields
    }

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
        if let version = index.version(of: id), let found = rendering(of: version) { return found }
        return index.download(id).map(rendering(of:))
    }

    /// What was written of a version.
    func rendering(of version: DownloadVersion) -> Rendering? {
        cache.find(version)
    }

    /// Writes a download, or finds it written.
    func rendering(of download: Download) -> Rendering {
        let version = download.version
        if let version, let found = rendering(of: version) { return found }
        let bytes = (hidesSecrets ? download.withoutSecrets : download).encoded(linkPrefix)
        let etag = ContentTag.of(bytes)
        var fields = Fields()
        fields.append(.cacheControl, "no-cache")
        fields.append(.contentType, "application/json")
        fields.append(.etag, etag)
        let rendering = Rendering(bytes: bytes, etag: etag, fields: fields)
        if let version { cache.keep(rendering, version, cost: bytes.count + Self.overhead) }
        return rendering
    }
}
