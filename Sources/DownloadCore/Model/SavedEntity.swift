package import HTTPCore

/// The representation that the partial bytes belong to.
///
/// Validators are kept byte by byte as the origin sent them. They are compared as bytes (RFC 9110 §8.8.3.2) and sent
/// back unchanged.
package struct SavedEntity: Sendable, Equatable {
    /// The value of the ETag field.
    package var etag: FieldValue?
    /// The value of the Last-Modified field.
    package var lastModified: FieldValue?
    /// The value of the Date field that came with Last-Modified. It shows whether Last-Modified is a strong validator.
    package var date: String?
    /// The complete length in bytes, if the origin stated it.
    package var total: Int64?
    /// The content coding of the file itself, if the origin named it. The bytes are kept in this coding.
    package var coding: String?
    /// The URL whose response had these values, since validators are valid for one source only.
    ///
    /// `nil` for the download's own URL.
    package var source: String?
    /// The digest of the whole file, if the origin stated it.
    package var digest: Checksum?

    package init(
        etag: FieldValue? = nil, lastModified: FieldValue? = nil, date: String? = nil, total: Int64? = nil, coding: String? = nil,
        source: String? = nil, digest: Checksum? = nil
    ) {
        self.etag = etag
        self.lastModified = lastModified
        self.date = date
        self.total = total
        self.coding = coding
        self.source = source
        self.digest = digest
    }
}
