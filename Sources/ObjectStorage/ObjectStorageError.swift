/// An error of object storage.
public enum ObjectStorageError: Error, Sendable, Equatable {
    /// The service was unreachable, too slow or too busy, or had an internal error, in all tries. A later request may
    /// succeed. Whether this one took effect is unknown.
    case unavailable(String)
    /// The service refused the request: the configuration is wrong, or permissions are missing. `code` is S3's, such as
    /// `SignatureDoesNotMatch` or `NoSuchBucket`; empty if there is none.
    case refused(status: Int, code: String, message: String)
    /// The bucket is in another region; `nil` if the service did not name it.
    case otherRegion(String?)
    /// The clocks of this machine and of the service differ by more than 15 minutes (`RequestTimeTooSkewed`).
    case clockSkew(String)
    /// The bytes do not have the given digest: the file or the transferred bytes were changed.
    case contentMismatch
    /// The file cannot be read, or is shorter than stated.
    case unreadableFile(String)
    /// The service's response is invalid.
    case invalidResponse(String)
    /// The task was cancelled.
    case cancelled

    /// One line of text for people, without secrets.
    public var message: String {
        switch self {
        case .unavailable(let reason): "the storage is not available: \(reason)"
        case .refused(let status, let code, let message):
            "the storage refused: \(status)" + (code.isEmpty ? "" : " \(code)") + (message.isEmpty ? "" : ": \(message)")
        case .otherRegion(let region?): "the bucket is in another region: add region=\(region)"
        case .otherRegion(nil): "the bucket is in another region or at another endpoint: set region and endpoint"
        case .clockSkew(let message):
            "the clock of this machine or of the storage is wrong" + (message.isEmpty ? "" : ": \(message)")
        case .contentMismatch: "the stored bytes do not have the file's digest"
        case .unreadableFile(let reason): "the file cannot be read: \(reason)"
        case .invalidResponse(let reason): "the storage's response is not valid: \(reason)"
        case .cancelled: "it was cancelled"
        }
    }
}

extension ObjectStorageError: CustomStringConvertible {
    /// The value of ``message``.
    public var description: String { message }
}
