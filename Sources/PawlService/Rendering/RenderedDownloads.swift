internal import Downloads
internal import HTTPCore
internal import JSON

/// Resources as they were written last: 1,024 of them, and none that is long, so at most 2 MiB in all.
final class RenderedDownloads: Sendable {
    /// A resource and its validator.
    struct Rendering: Sendable {
        /// The JSON object.
        let bytes: [UInt8]
        let etag: EntityTag
        /// The field that says so.
        let fields: Fields
    }

    private static let longest = 2048

    private let cache = VersionCache<Rendering>(rows: 256)

    /// What was written of that version.
    func rendering(of id: DownloadID, _ version: DownloadVersion) -> Rendering? {
        cache.find(id, version)
    }

    /// Writes a download, or finds it written.
    func rendering(of download: Download) -> Rendering {
        let version = download.version
        if let version, let found = rendering(of: download.id, version) { return found }
        var writer = JSONWriter()
        download.encode(into: &writer)
        let bytes = writer.bytes
        let etag = ContentTag.of(bytes)
        var fields = Fields()
        fields.append(.etag, etag)
        let rendering = Rendering(bytes: bytes, etag: etag, fields: fields)
        if let version, bytes.count <= Self.longest { cache.keep(rendering, download.id, version) }
        return rendering
    }
}
