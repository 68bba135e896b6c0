internal import Downloads
internal import HTTPCore
internal import JSON
internal import Threading

/// Resources as they were written last, so that one which did not change since need not be written again.
///
/// Kept by version, which changes whenever anything that is shown does: what is found here is what would be written now. There are
/// a thousand places, each for the last download that came to it, and none for a long resource: at most 2 MiB in all.
final class RenderedDownloads: Sendable {
    /// A resource and its validator.
    struct Rendering: Sendable {
        let id: DownloadID
        let version: DownloadVersion
        /// The JSON object.
        let bytes: [UInt8]
        let etag: EntityTag
        /// The field that says so.
        let fields: Fields
    }

    private static let places = 1024
    private static let longest = 2048

    private let shelf = Locked([Rendering?](repeating: nil, count: places))

    /// What was written of that version.
    func rendering(of id: DownloadID, _ version: DownloadVersion) -> Rendering? {
        shelf.withLock { shelf in
            guard let found = shelf[Self.place(of: id)], found.id == id, found.version == version else { return nil }
            return found
        }
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
        fields.append(.etag, etag.description)
        let rendering = Rendering(id: download.id, version: version ?? .none, bytes: bytes, etag: etag, fields: fields)
        if version != nil, bytes.count <= Self.longest {
            shelf.withLock { $0[Self.place(of: download.id)] = rendering }
        }
        return rendering
    }

    /// The low bits of an identifier are random.
    private static func place(of id: DownloadID) -> Int {
        Int(truncatingIfNeeded: id.value) & (places - 1)
    }
}
