package import DownloadCore

extension FleetChange {
    /// Encodes a download for `pawl.changes`.
    package static func encode(_ download: Download) -> String {
        var row = JSONRowEncoder()
        DownloadRow.encode(DownloadRecord(download), to: &row)
        return row.text
    }

    /// Decodes a download from `pawl.changes`.
    /// - Throws: `StoreError.damaged` if no release writes such a text.
    package static func decode(_ body: String) throws(StoreError) -> Download {
        guard let row = JSONRowDecoder(body) else { throw .damaged("a change cannot be read") }
        var reader = DownloadRow.Reader()
        return try reader.record(from: row).download
    }
}
