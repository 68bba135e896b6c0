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
}

/// One of the things that a client asks for in one request.
public enum BatchEntry: Sendable {
    /// A download.
    case new(NewDownload)
    /// What has been found wanting before it came here, in the words that the client is told.
    case refused([UInt8])
}

/// What an order came to.
public enum OrderOutcome: Sendable {
    /// A new download.
    case created(Download)
    /// The URL's download that is live or completed already.
    case existing(Download)
    /// It was refused, in these words.
    case refused([UInt8])
}

extension OrderOutcome {
    init(_ addition: Addition) {
        switch addition {
        case .created(let download): self = .created(download)
        case .existing(let download): self = .existing(download)
        }
    }
}
