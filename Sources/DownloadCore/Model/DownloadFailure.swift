/// The reason why a download makes no progress, shown as its `error`.
public struct DownloadFailure: Error, Sendable, Equatable {
    /// The kind of failure, as the API spells it.
    public var code: FailureCode
    /// One sentence for users. It never holds values of header fields.
    public var message: String
    /// Whether the same request may succeed at another time. The service then retries.
    public var retryable: Bool
    /// The status code of the origin's response; `nil` without a response.
    public var httpStatus: Int?

    /// Creates a failure. If `retryable` is `nil`, ``RetryPolicy`` decides.
    public init(_ code: FailureCode, _ message: String, httpStatus: Int? = nil, retryable: Bool? = nil) {
        self.code = code
        self.message = message
        self.httpStatus = httpStatus
        self.retryable = retryable ?? RetryPolicy.retries(code, httpStatus: httpStatus)
    }
}

/// The kinds of failures, as clients see them.
public enum FailureCode: String, Sendable, CaseIterable {
    /// The destination guard refuses the host, an address of it, or a redirect's target.
    case destinationForbidden = "destination-forbidden"
    /// The origin responded with a status that does not bring the file.
    case httpStatus = "http-status"
    /// The bytes do not match the checksum.
    case checksumMismatch = "checksum-mismatch"
    /// The origin sends another media type than the requested one, or a page in place of the file.
    case mediaTypeMismatch = "media-type-mismatch"
    /// The disk is full.
    case insufficientStorage = "insufficient-storage"
    /// The origin redirects more often than the client follows.
    case tooManyRedirects = "too-many-redirects"
    /// The origin applied a content coding to the file, although none was acceptable.
    case unsupportedEncoding = "unsupported-encoding"
    /// The certificate could not be verified, or the TLS configuration of this host is wrong.
    case tlsFailure = "tls-failure"
    /// The connection could not be opened, or the TLS handshake broke off.
    case connectionFailed = "connection-failed"
    /// Nothing was received in time.
    case timedOut = "timed-out"
    /// The transfer broke off, or its response was not valid HTTP.
    case transferBroken = "transfer-broken"
    /// The origin sent different bytes under one validator again, after the download had started over.
    case entityChanged = "entity-changed"
    /// The origin sent an empty file in place of the missing bytes.
    case unexpectedEmpty = "unexpected-empty"
    /// Reading from or writing to the disk failed.
    case ioError = "io-error"
}
