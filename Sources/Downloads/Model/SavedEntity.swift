internal import HTTPCore

/// The representation that the partial bytes belong to. Validators are kept byte by byte as the origin sent them, compared as bytes
/// (RFC 9110 §8.8.3.2), and sent back so.
struct SavedEntity: Sendable, Equatable {
    /// The ETag field's value.
    var etag: FieldValue?
    /// The Last-Modified field's value.
    var lastModified: FieldValue?
    /// The Date field's value of the response that brought Last-Modified: shows whether that is strong.
    var date: String?
    /// The complete length in bytes, if the origin told.
    var total: Int64?
    /// The content coding that the file itself is in, if the origin named it: the bytes are as sent.
    var coding: String?
    /// The URL that sent all this, as its validators mean nothing to others; `nil`: the download's own.
    var source: String?
    /// What all of its bytes hash to, if the origin told.
    var digest: Checksum?

    init(
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
