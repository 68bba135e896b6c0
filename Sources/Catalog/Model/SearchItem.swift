/// One result. What the source doesn't say is nil; URLs are http or https.
public struct SearchItem: Sendable, Equatable {
    /// The id for ``Catalog/lookup(_:)``, such as `itunes:263301273`; nil if the source gave none.
    public var id: String?
    /// What it is: `song`, `album`, `artist`, `podcast-episode`, `post`…
    public var kind: String?
    /// Its own name: of a track the track's, of an album the album's.
    public var name: String?
    /// Who made it.
    public var artist: String?
    /// What it is part of, or for an album its name.
    public var collection: String?
    /// The main genre.
    public var genre: String?
    /// Milliseconds, not negative.
    public var durationMs: Int64?
    /// As the source writes it, commonly RFC 3339.
    public var releaseDate: String?
    /// Whether it is marked as explicit.
    public var explicit: Bool?
    /// The largest picture given.
    public var artworkUrl: String?
    /// Where people read about it or buy it.
    public var pageUrl: String?
    /// What to download: of a song its preview.
    public var downloadUrl: String?
    /// Of a work: how many parts its source says it has, which may be more than it gives.
    public var partCount: Int64?
    /// Of a part: the id of the work.
    public var partOf: String?
    /// Of a part: its place in the work, from 1.
    public var number: Int?
    /// Of a file: its format, in the source's words.
    public var format: String?
    /// Of a file: its size, not negative.
    public var bytes: Int64?
    /// Of a file: the digest that the source tells of it, as `sha-1:<hex>` or `md5:<hex>`.
    public var checksum: String?
    /// The licence it is under.
    public var licenseUrl: String?
    /// Whether ``Catalog/parts(_:)`` may find what it consists of.
    public var hasParts = false
    /// What a download of it is to be like; nil: the source doesn't care.
    public var suggestion: SuggestedDownload?
    /// The source's own JSON object, byte for byte.
    public var raw: [UInt8]

    /// Whether it has that id, byte for byte: names of files that look alike may differ.
    func isCalled(_ id: String) -> Bool {
        self.id.map { $0.utf8.elementsEqual(id.utf8) } ?? false
    }

    /// An item of which nothing is known but its object.
    public init(raw: [UInt8]) {
        self.raw = raw
    }
}
