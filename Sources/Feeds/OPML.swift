public import HTTPCore
import XML

/// A list of feeds, as programs exchange it: OPML 1.0 and 2.0 (http://opml.org/spec2.opml).
public struct OPML: Sendable, Equatable {
    /// The limits of a document.
    public enum Limits {
        /// The maximum length in bytes.
        public static let bytes = 1 << 20
        /// The maximum number of outlines, groups included.
        public static let outlines = 20_000
        /// The maximum nesting of outlines.
        public static let levels = 16
        /// The maximum number of an outline's tags that become labels.
        static let tags = 64
    }

    /// A feed in the list.
    public struct Outline: Sendable, Equatable {
        /// The address of the feed, as it is written.
        public var address: String
        /// The name as plain text; `nil` if there is none.
        public var title: String?
        /// The address of the page that the feed belongs to, as it is written; `nil` for none.
        public var page: String?
        /// The names of the groups that the feed is in, from the outermost to the innermost, and then its tags.
        public var labels: [String]

        /// Creates an outline.
        public init(address: String, title: String? = nil, page: String? = nil, labels: [String] = []) {
            (self.address, self.title, self.page, self.labels) = (address, title, page, labels)
        }
    }

    /// The reason why a document is refused, as the end of "the document".
    public struct Refusal: Error, Equatable, Sendable {
        /// The reason.
        public let finding: String
    }

    /// The title of the list as plain text; `nil` if there is none.
    public var title: String?
    /// The feeds in the order of the document. An address may occur more than once.
    public var outlines: [Outline]
    /// The faults of the document despite which it was read, in sentences.
    public internal(set) var warnings: [String] = []

    /// Creates a list.
    public init(title: String? = nil, outlines: [Outline] = []) {
        (self.title, self.outlines) = (title, outlines)
    }

    /// Returns the list as a document in OPML 2.0. A feed is in the group of its first label. Its
    /// `category` has the labels without commas and slashes, unless it would only repeat the group.
    /// - Parameter created: The time that the document states.
    public func document(created: HTTPDate) -> String {
        var groups: [String] = []
        for case let label? in outlines.map(\.labels.first) where !groups.contains(label) { groups.append(label) }
        let ungrouped = outlines.filter(\.labels.isEmpty).map { "    \(Self.element($0))\n" }.joined()
        let grouped = groups.map { group in
            let members = outlines.filter { $0.labels.first == group }.map { "      \(Self.element($0))\n" }.joined()
            let name = group.xmlEscaped
            return "    <outline text=\"\(name)\" title=\"\(name)\">\n\(members)    </outline>\n"
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <opml version="2.0">
              <head>
                <title>\((title ?? "").xmlEscaped)</title>
                <dateCreated>\(created)</dateCreated>
              </head>
              <body>
            \(ungrouped)\(grouped.joined())  </body>
            </opml>

            """
    }

    private static func element(_ outline: Outline) -> String {
        let title = (outline.title ?? outline.address).xmlEscaped
        let page = outline.page.map { " htmlUrl=\"\($0.xmlEscaped)\"" } ?? ""
        let tags = outline.labels.filter { !$0.contains(",") && !$0.contains("/") }
        let isGroupOnly = tags.isEmpty || tags == [outline.labels[0]]
        let category = isGroupOnly ? "" : " category=\"\(tags.joined(separator: ",").xmlEscaped)\""
        let address = outline.address.xmlEscaped
        return "<outline type=\"rss\" text=\"\(title)\" title=\"\(title)\" xmlUrl=\"\(address)\"\(page)\(category)/>"
    }
}
