/// What became of a request to download.
public enum Addition: Sendable {
    /// A new download.
    case created(Download)
    /// The URL's download that is live or completed already.
    case existing(Download)

    /// The download, new or not.
    public var download: Download {
        switch self {
        case .created(let download), .existing(let download): download
        }
    }

    /// What became of one item of a request.
    public typealias Outcome = Result<Addition, Refusal>

    /// Why an item of a request is refused, as far as it has to be remembered to say it again.
    public struct Refusal: Error, Sendable, Equatable {
        /// The kind, as the table of error codes names it: `invalid-request`.
        public let code: String
        /// What was wrong, and what is accepted, in a sentence.
        public let detail: String
        /// The state that a download is in, if that is why.
        public let state: DownloadState?
        /// The download that is meant, if that is what the client will want to know.
        public let id: DownloadID?

        /// A refusal from its parts.
        public init(code: String, detail: String, state: DownloadState? = nil, id: DownloadID? = nil) {
            self.code = code
            self.detail = detail
            self.state = state
            self.id = id
        }
    }
}

extension Addition.Outcome {
    /// Bytes of memory, about.
    var memorySize: Int {
        switch self {
        case .success(let addition): addition.download.memorySize
        case .failure(let refusal): MemoryLayout<Self>.stride + refusal.code.utf8.count + refusal.detail.utf8.count
        }
    }
}
