/// The outcome of a request to download.
public enum Addition: Sendable {
    /// A new download.
    case created(Download)
    /// The download of this URL that is live or completed already.
    case existing(Download)

    /// The new or existing download.
    public var download: Download {
        switch self {
        case .created(let download), .existing(let download): download
        }
    }

    /// The outcome of one item of a request.
    public typealias Outcome = Result<Addition, Refusal>

    /// The refusal of one item of a request, with everything that a repetition of the response needs.
    public struct Refusal: Error, Sendable, Equatable {
        /// The error code from the table of error codes, such as `invalid-request`.
        public let code: String
        /// A sentence that describes the error and the accepted values.
        public let detail: String
        /// The state of the download, if it is the reason for the refusal.
        public let state: DownloadState?
        /// The download that the refusal is about, if the client needs it.
        public let id: DownloadID?

        /// Creates a refusal from its parts.
        public init(code: String, detail: String, state: DownloadState? = nil, id: DownloadID? = nil) {
            self.code = code
            self.detail = detail
            self.state = state
            self.id = id
        }
    }
}

extension Addition.Outcome {
    /// The approximate size in memory, in bytes.
    var memorySize: Int {
        switch self {
        case .success(let addition): addition.download.memorySize
        case .failure(let refusal): MemoryLayout<Self>.stride + refusal.code.utf8.count + refusal.detail.utf8.count
        }
    }
}
