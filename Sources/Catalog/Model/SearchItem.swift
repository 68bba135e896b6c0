/// A search result. Values that the source does not give are `nil`; URLs are http or https.
public struct SearchItem: Sendable, Equatable {
    /// The id for ``Catalog/lookup(_:)``, such as `itunes:263301273`; `nil` if the source gave none.
    public var id: String?
    /// The kind: `song`, `album`, `artist`, `podcast-episode`, `post`…
    public var kind: String?
    /// The name of the item itself: of a track the track's, of an album the album's.
    public var name: String?
    /// The creator.
    public var artist: String?
    /// The name of the work that it is part of; of an album its own name.
    public var collection: String?
    /// The main genre.
    public var genre: String?
    /// The duration in milliseconds, not negative.
    public var durationMs: Int64?
    /// The date as the source writes it, usually RFC 3339.
    public var releaseDate: String?
    /// Whether it is marked as explicit.
    public var explicit: Bool?
    /// The URL of the largest picture.
    public var artworkUrl: String?
    /// The URL of a page about the item for people.
    public var pageUrl: String?
    /// The URL to download: of a song its preview.
    public var downloadUrl: String?
    /// Of a work: the number of parts that its source states, which may be more than it lists.
    public var partCount: Int64?
    /// Of a part: the id of the work.
    public var partOf: String?
    /// Of a part: its number in the work, from 1.
    public var number: Int?
    /// Of an episode: its season, from 1.
    public var season: Int?
    /// Of an episode: its `guid` or `id` in the feed, which is no member of the JSON object; `nil` if it has none.
    public var guid: String?
    /// The value of the `Authorization` field for the file. It is a secret, and no member of the JSON object.
    public var authorization: String?
    /// Of a file in a work with folders: its path in the work.
    public var path: String?
    /// Of a file: its format, in the source's words.
    public var format: String?
    /// Of a file: its size in bytes, not negative.
    public var bytes: Int64?
    /// Of a file: the source's digest, as `sha-1:<hex>` or `md5:<hex>`.
    public var checksum: String?
    /// The URL of its licence.
    public var licenseUrl: String?
    /// Of a podcast of a catalogue: the id of its feed as a work.
    public var feedID: String?
    /// Whether ``Catalog/parts(_:)`` may find parts of it.
    public var hasParts = false
    /// The source's suggestions for a download of it; `nil` if there are none.
    public var suggestion: SuggestedDownload?
    /// The source's original JSON object; empty if the source does not write JSON.
    public var raw: [UInt8]

    /// Whether the item has this id, compared by bytes: names of files that look alike may differ.
    func isCalled(_ id: String) -> Bool {
        self.id.map { $0.utf8.elementsEqual(id.utf8) } ?? false
    }

    /// Creates an item with only its original JSON.
    public init(raw: [UInt8]) {
        self.raw = raw
    }
}
