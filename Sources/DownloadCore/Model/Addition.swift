public import HTTPCore

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
    public typealias Outcome = Result<Addition, Problem>
}

extension Addition.Outcome {
    /// The approximate size in memory, in bytes.
    var memorySize: Int {
        switch self {
        case .success(let addition): addition.download.memorySize
        case .failure(let problem): MemoryLayout<Self>.stride + problem.detail.utf8.count
        }
    }
}
