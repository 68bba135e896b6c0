internal import HTTPCore

/// Names one request of a client, so that a repetition of it is recognised and answered as the first was: an
/// `Idempotency-Key` and what was asked for with it.
public struct RequestKey: Sendable, Hashable {
    /// The client's own name for the request.
    public let name: String
    /// The SHA-256 of what is asked for.
    let digest: [UInt8]

    /// - Parameters:
    ///   - name: the client's own name for the request.
    ///   - request: all bytes that say what is asked for; another request with the same name is refused.
    public init(_ name: String, request: [UInt8]) {
        self.name = name
        digest = SHA256.digest(of: request)
    }
}

/// What one order of a request came to, as far as it has to be remembered to be told again.
public enum KeptOutcome: Sendable, Equatable {
    /// A new download, as the client was shown it: `DownloadsConfiguration.resource` of it.
    case created(DownloadID, shown: [UInt8])
    /// One that there was already, as the client was shown it.
    case existing(DownloadID, shown: [UInt8])
    /// It was refused, in the words that the client was told.
    case refused([UInt8])

    /// Bytes of memory, about.
    var size: Int {
        switch self {
        case .created(_, let shown), .existing(_, let shown): 80 + shown.count
        case .refused(let words): 48 + words.count
        }
    }
}

/// The answer to a request with a key.
struct KeptAnswer: Sendable, Equatable {
    var key: String
    /// The SHA-256 of what was asked for.
    var digest: [UInt8]
    var outcomes: [KeptOutcome]
    var createdAt: Timestamp

    /// Bytes of memory, about.
    var size: Int { outcomes.reduce(key.utf8.count + 128) { $0 + $1.size } }
}
