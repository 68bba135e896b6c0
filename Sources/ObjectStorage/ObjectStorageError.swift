/// Why something could not be done in object storage.
public enum ObjectStorageError: Error, Sendable, Equatable {
    /// The service could not be reached, was too slow or too busy, or had a fault of its own: later it may work. It was tried several
    /// times. Whether the request took effect is unknown.
    case unavailable(String)
    /// The service does not want this: the configuration is wrong, or rights are missing. `code` is S3's, such as `SignatureDoesNotMatch`
    /// or `NoSuchBucket`; empty if it said none.
    case refused(status: Int, code: String, message: String)
    /// The bucket is in another region, which is named if the service said which.
    case otherRegion(String?)
    /// This machine's clock and the service's are more than 15 minutes apart (`RequestTimeTooSkewed`).
    case clockSkew(String)
    /// The bytes do not have the digest that was given: the file was changed, or bytes were on the way.
    case contentMismatch
    /// The file cannot be read, or is shorter than it was said to be.
    case unreadableFile(String)
    /// What the service answered is not to be understood.
    case invalidResponse(String)
    /// The task was cancelled.
    case cancelled

    /// One line for people, without secrets.
    public var message: String {
        switch self {
        case .unavailable(let reason): "the storage is not available: \(reason)"
        case .refused(let status, let code, let message):
            "the storage refused: \(status)" + (code.isEmpty ? "" : " \(code)") + (message.isEmpty ? "" : ": \(message)")
        case .otherRegion(let region?): "the bucket is in another region: add region=\(region)"
        case .otherRegion(nil): "the bucket is in another region or at another endpoint: set region and endpoint"
        case .clockSkew(let message):
            "this machine's clock is wrong, or the storage's" + (message.isEmpty ? "" : ": \(message)")
        case .contentMismatch: "the bytes that were stored do not have the file's digest"
        case .unreadableFile(let reason): "the file cannot be read: \(reason)"
        case .invalidResponse(let reason): "the storage's answer is not valid: \(reason)"
        case .cancelled: "it was cancelled"
        }
    }
}

extension ObjectStorageError: CustomStringConvertible {
    /// The same as ``message``.
    public var description: String { message }
}
