internal import Downloads
internal import HTTPCore
internal import JSON
internal import Threading

/// Resources as they were written last, so that one which did not change since need not be written again.
///
/// Kept by version, which changes whenever anything that is shown does: what is found here is what would be written now. There are
/// a thousand places, in rows of four for downloads that an identifier's low bits lead to, and none for a long resource: at most
/// 2 MiB in all.
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

    private static let rows = 256
    private static let places = 4
    private static let longest = 2048

    private struct Shelf {
        var renderings = [Rendering?](repeating: nil, count: rows * places)
        /// Which place of a row gives way next, by row.
        var oldest = [UInt8](repeating: 0, count: rows)

        func find(_ id: DownloadID, _ version: DownloadVersion) -> Rendering? {
            let row = RenderedDownloads.row(of: id) * places
            for place in row..<(row + places) {
                if let found = renderings[place], found.id == id { return found.version == version ? found : nil }
            }
            return nil
        }

        mutating func keep(_ rendering: Rendering) {
            let row = RenderedDownloads.row(of: rendering.id)
            var place = row * places + Int(oldest[row])
            if let own = (0..<places).first(where: { renderings[row * places + $0]?.id == rendering.id }) {
                place = row * places + own
            } else {
                oldest[row] = (oldest[row] + 1) % UInt8(places)
            }
            renderings[place] = rendering
        }
    }

    private let shelf = Locked(Shelf())

    /// What was written of that version.
    func rendering(of id: DownloadID, _ version: DownloadVersion) -> Rendering? {
        shelf.withLock { $0.find(id, version) }
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
            shelf.withLock { $0.keep(rendering) }
        }
        return rendering
    }

    /// The low bits of an identifier are random.
    private static func row(of id: DownloadID) -> Int {
        Int(truncatingIfNeeded: id.value) & (rows - 1)
    }
}
