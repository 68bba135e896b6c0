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
    /// The source's own JSON object, byte for byte.
    public var raw: [UInt8]

    /// An item of which nothing is known but its object.
    public init(raw: [UInt8]) {
        self.raw = raw
    }
}
