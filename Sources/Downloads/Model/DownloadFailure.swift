/// Why a download does not progress: shown as `error` while retrying and when failed.
public struct DownloadFailure: Error, Sendable, Equatable {
    /// The kind, as published.
    public var code: FailureCode
    /// One sentence for people. Never holds header values.
    public var message: String
    /// Whether the same request may succeed at another time, so that it is tried again by itself.
    public var retryable: Bool
    /// The status the origin responded with, if it responded.
    public var httpStatus: Int?

    /// A failure that is retried or not as `RetryPolicy` says, unless told.
    public init(_ code: FailureCode, _ message: String, httpStatus: Int? = nil, retryable: Bool? = nil) {
        self.code = code
        self.message = message
        self.httpStatus = httpStatus
        self.retryable = retryable ?? RetryPolicy.retries(code, httpStatus: httpStatus)
    }
}

/// The kinds of failure, spelled as clients see them.
public enum FailureCode: String, Sendable, CaseIterable {
    /// The destination guard refuses the host, an address of it, or a redirect's target.
    case destinationForbidden = "destination-forbidden"
    /// The origin responded with a status that is of no use.
    case httpStatus = "http-status"
    /// The bytes are not those the checksum promises.
    case checksumMismatch = "checksum-mismatch"
    /// The origin sends another media type than was asked for, or a page in place of the file.
    case mediaTypeMismatch = "media-type-mismatch"
    /// The disk is full.
    case insufficientStorage = "insufficient-storage"
    /// More redirects than are followed.
    case tooManyRedirects = "too-many-redirects"
    /// A content coding that was applied to the file although none was acceptable.
    case unsupportedEncoding = "unsupported-encoding"
    /// The certificate could not be verified, or TLS is set up wrongly here.
    case tlsFailure = "tls-failure"
    /// No connection, or a TLS handshake that broke.
    case connectionFailed = "connection-failed"
    /// Nothing came in time.
    case timedOut = "timed-out"
    /// The transfer broke off, or was not valid HTTP.
    case transferBroken = "transfer-broken"
    /// The origin's file changed, repeatedly, while it was being downloaded.
    case entityChanged = "entity-changed"
    /// The disk failed.
    case ioError = "io-error"
}
