public import Foundation

/// A download, as the service describes it. Members and states that this version does not know are no error.
public struct Download: Codable, Hashable, Sendable, Identifiable {
    /// A state. A state that this version does not know is `unknown`.
    public enum State: String, Codable, Sendable {
        case queued, downloading, paused, retrying, completed, failed, cancelled, unknown

        /// Decodes a state.
        public init(from decoder: any Decoder) throws {
            self = State(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
        }

        /// Whether the download is completed, failed or cancelled.
        public var hasEnded: Bool { [.completed, .failed, .cancelled].contains(self) }
    }

    /// The reason of a failure.
    public struct Failure: Codable, Hashable, Sendable {
        /// The code that programs compare, such as `http-status`.
        public let code: String
        /// The reason in words.
        public let message: String
    }

    /// The id, by which commands name the download. Ids sort by creation.
    public let id: String
    /// The URL of the file.
    public let url: URL?
    /// The state of the download.
    public let state: State
    /// The name of the file; `nil` until the origin has responded.
    public let filename: String?
    /// The file's folder, below the service's folder of files, with slashes between names.
    public let folder: String
    /// The number of received bytes.
    public let bytesReceived: Int64
    /// The size of the file.
    public let bytesTotal: Int64?
    /// The received part of the file, from 0 to 1.
    public let progress: Double?
    /// The current speed.
    public let bytesPerSecond: Int64
    /// The expected time until the end, in seconds.
    public let etaSeconds: Double?
    /// The reason why the download has failed, or is tried again.
    public let error: Failure?
    /// The SHA-256 of the finished file, in hexadecimal digits.
    public let sha256: String?
    /// The labels of the download.
    public let labels: [String]
    /// The search result that the download was made of.
    public let track: SearchItem?
    /// The time of creation.
    public let createdAt: Date
    /// The time of the last change other than of bytes.
    public let updatedAt: Date
    /// Whether the finished file was missing at the last check.
    public let fileMissing: Bool
    /// The reason why a queued download waits, such as `turn` or `disk`.
    public let waitingFor: String?
}

/// A page of the list of downloads.
public struct DownloadPage: Codable, Hashable, Sendable {
    /// The downloads.
    public let items: [Download]
    /// The cursor of the next page; `nil` at the end.
    public let nextCursor: String?
    /// The number of matching downloads on all pages.
    public let total: Int
}

/// A response to a search.
public struct SearchResponse: Codable, Hashable, Sendable {
    /// The results. One without an id is left out, since nothing can be done with it.
    public let results: [SearchItem]
    /// A text that the source wants to be displayed with its results.
    public let attribution: String?
}

/// A search result. A member that the source does not tell is `nil`.
public struct SearchItem: Codable, Hashable, Sendable, Identifiable {
    /// The id for ``Pawl/add(trackId:labels:)``, such as `itunes:263301273`.
    public let id: String
    /// The kind of result, such as `song`.
    public let kind: String?
    /// The title.
    public let name: String?
    /// The artist or author.
    public let artist: String?
    /// The album, show or other work that it is a part of.
    public let collection: String?
    /// The duration in milliseconds.
    public let durationMs: Int64?
    /// The address of a picture.
    public let artworkUrl: URL?
    /// The address of its page in the store or archive.
    public let pageUrl: URL?
    /// The address of the file; of a song, of its preview.
    public let downloadUrl: URL?
}

// The synthesized code above uses these functions instead of the standard library's. An invalid URL or search result is `nil`.
extension KeyedDecodingContainer {
    func decodeIfPresent(_: URL.Type, forKey key: Key) throws -> URL? {
        try decodeIfPresent(String.self, forKey: key).flatMap { URL(string: $0) }
    }

    func decodeIfPresent(_: SearchItem.Type, forKey key: Key) throws -> SearchItem? {
        try? SearchItem(from: superDecoder(forKey: key))
    }

    func decode(_: [SearchItem].Type, forKey key: Key) throws -> [SearchItem] {
        var (list, items) = (try nestedUnkeyedContainer(forKey: key), [SearchItem]())
        while !list.isAtEnd {
            if let item = try? SearchItem(from: list.superDecoder()) { items.append(item) }
        }
        return items
    }
}
