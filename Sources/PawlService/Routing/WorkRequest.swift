internal import Catalog
internal import DownloadCore
internal import HTTPCore
internal import Subscriptions

/// A request for all parts of a work, checked as far as possible before the parts are known.
struct WorkRequest: Sendable {
    /// The work's id.
    let id: String
    /// Names of formats; empty for those that the source prefers.
    let formats: [String]
    private let template: DownloadTemplate

    /// Reads the members of the JSON object.
    init(_ reader: inout ObjectReader) throws(Problem) {
        guard let id = try reader.string("partsOf", limit: Catalog.longestID) else {
            throw reader.refusal("partsOf", "is missing; it takes the id of a search result that has parts")
        }
        self.id = id
        formats = try reader.strings("formats", count: Catalog.maximumFormats, limit: 200) ?? []
        guard let placeholder = HTTPURL("http://invalid/") else { throw reader.refusal("partsOf", "cannot be processed") }
        var new = NewDownload(url: placeholder)
        try new.readSettings(&reader)
        guard reader.value("downloads") == nil else {
            throw reader.refusal("downloads", "is given together with 'partsOf'; a batch takes only one of them")
        }
        try reader.finish()
        template = DownloadTemplate(new, choosesFolder: false)
    }

    /// Returns the download of a part at this URL.
    func download(of item: SearchItem, at url: HTTPURL, track: [UInt8]) -> NewDownload {
        template.download(of: item, at: url, track: track)
    }
}
