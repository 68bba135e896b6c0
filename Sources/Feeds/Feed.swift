public import HTTPCore
import XML

/// A feed with its episodes: RSS 0.9x, 1.0 and 2.0, Atom (RFC 4287), or JSON Feed 1.1.
public struct Feed: Sendable, Equatable {
    /// The limits of a feed.
    public enum Limits {
        /// The maximum length of a document in bytes, once it is decoded.
        public static let bytes = 32 << 20
        /// The maximum number of pages.
        public static let pages = 100
        /// The maximum number of items. Of more, the newest count.
        public static let items = 20_000
        /// The maximum number of values in a document of JSON.
        static let values = 2_000_000
        /// The maximum length of a text in characters.
        static let text = 500
        /// The maximum length in bytes of an address that others are relative to (`xml:base`).
        static let base = 1 << 10
        /// The maximum length of an address in bytes.
        static let address = 8 << 10
    }

    /// A file that belongs to an item.
    public struct Enclosure: Sendable, Equatable {
        /// The address of the file.
        public let url: HTTPURL
        /// The media type in lower case, without parameters; `nil` if the feed states none.
        public let type: String?
        /// The length in bytes, above 0; `nil` if the feed states none.
        public let length: Int64?
        /// The duration in milliseconds; `nil` if the feed states none.
        let durationMs: Int64?
    }

    /// An item with an enclosure.
    public struct Item: Sendable, Equatable {
        /// The identity: the id in the feed, or what takes its place. No two items have the same.
        public internal(set) var identity = ""
        /// The `guid` or `id` in the feed; `nil` if there is none.
        public internal(set) var guid: String?
        /// The title as plain text; `nil` if there is none.
        public internal(set) var title: String?
        /// The time of publication; `nil` if it is missing or unreadable.
        public internal(set) var date: Timestamp?
        /// The duration in milliseconds; `nil` if it is unknown.
        public internal(set) var durationMs: Int64?
        /// The number of the episode, from 1; `nil` if it has none.
        public internal(set) var number: Int?
        /// The number of the season, from 1; `nil` if it has none.
        public internal(set) var season: Int?
        /// Whether the item is marked as explicit; `nil` if the feed does not say.
        public internal(set) var explicit: Bool?
        /// The address of a picture; `nil` for none.
        public internal(set) var artwork: HTTPURL?
        /// The address of a page about the item, with its fragment; `nil` for none.
        public internal(set) var page: String?
        /// The file.
        public internal(set) var enclosure: Enclosure
    }

    /// The title as plain text; `nil` if there is none.
    public internal(set) var title: String?
    /// The author as plain text; `nil` if there is none.
    public internal(set) var author: String?
    /// The address of a picture; `nil` for none.
    public internal(set) var artwork: HTTPURL?
    /// The address of the page that the feed belongs to; `nil` for none.
    public internal(set) var page: String?
    /// The new address that the feed names for itself (`itunes:new-feed-url`); `nil` for none.
    public internal(set) var newAddress: HTTPURL?
    /// The shortest time between two checks in seconds (`ttl`, `sy:updatePeriod`); `nil` if the feed states none.
    public internal(set) var interval: Int64?
    /// The items with enclosures, the newest first.
    public internal(set) var items: [Item] = []
    /// The number of all items, also of those without an enclosure.
    public internal(set) var itemCount = 0
    /// The address of the page with the next older items (RFC 5005); `nil` for none.
    public internal(set) var next: HTTPURL?
    /// The date of the newest item that is left out because there are too many; `nil` for none.
    public internal(set) var cut: Timestamp?
    /// The faults of the document despite which it was read, in sentences.
    public internal(set) var warnings: [String] = []
    /// Whether the document has its end.
    public internal(set) var isComplete = true

    init() {}

    /// The reason why a document is no feed, as the end of "the address answered with".
    public struct Refusal: Error, Equatable, Sendable {
        /// The reason.
        public let finding: String
    }

    /// Returns whether only the address of its file names an item.
    /// - Parameter id: The id, which may be that address, with any scheme and host; `nil` for an item without one.
    public static func isAddress(_ id: String?, of file: HTTPURL) -> Bool {
        guard let id else { return true }
        guard id.utf8.contains(UInt8(ascii: "/")), let url = file.resolving(id) else { return false }
        return url.path == file.path && url.query == file.query
    }

    /// Reads a feed.
    /// - Parameters:
    ///   - bytes: The document, at most ``Limits/bytes``.
    ///   - address: The address of the document, to which relative addresses refer.
    ///   - charset: The `charset` of its media type; `nil` if it has none.
    /// - Throws: ``Refusal`` if the document is no feed.
    public init(reading bytes: [UInt8], from address: HTTPURL, charset: String? = nil) throws(Refusal) {
        guard bytes.count <= Limits.bytes else { throw Refusal(finding: "a document of more than \(Limits.bytes >> 20) MiB") }
        if let phrase = FileSignature.phrase(bytes) { throw Refusal(finding: phrase) }
        let decoded = TextEncoding.decoded(bytes, charset: charset)
        let text = decoded.text
        let first = text.first { $0 != 0x20 && !(0x09...0x0D).contains($0) }
        guard let first else { throw Refusal(finding: "an empty document") }
        var builder = FeedBuilder(address)
        if let warning = decoded.warning { builder.feed.warnings.append(warning) }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            try builder.readJSON(text)
        } else {
            var reader = FeedDocument(text, builder)
            builder = try reader.read()
        }
        self = builder.finish()
    }
}
