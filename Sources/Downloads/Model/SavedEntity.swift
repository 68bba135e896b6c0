/// What is remembered of the representation that the partial bytes belong to. Fields are kept as the origin spelled them:
/// a validator is sent back byte for byte.
struct SavedEntity: Sendable, Equatable {
    /// The ETag field's value.
    var etag: String?
    /// The Last-Modified field's value.
    var lastModified: String?
    /// The Date field's value of the response that brought Last-Modified: shows whether that is strong.
    var date: String?
    /// The complete length in bytes, if the origin told.
    var total: Int64?
    /// The Content-Encoding field's value, if there was one other than `identity`.
    var coding: String?
    /// The URL that sent all this, as its validators mean nothing to others; `nil`: the download's own.
    var source: String?
    /// What all of its bytes hash to, if the origin told.
    var digest: Checksum?

    init(
        etag: String? = nil, lastModified: String? = nil, date: String? = nil, total: Int64? = nil, coding: String? = nil,
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
