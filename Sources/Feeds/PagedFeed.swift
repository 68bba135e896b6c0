public import HTTPCore

/// A feed whose older items are on further pages (RFC 5005). Each page names the next one, as `next` or `prev-archive`.
public struct PagedFeed: Sendable {
    /// The feed with the items of the pages so far.
    public private(set) var feed: Feed
    /// The address of the next page; `nil` after the last one.
    public private(set) var next: HTTPURL?
    private let address: HTTPURL
    private var visited: Set<HTTPURL>

    /// Creates a feed with its first page.
    /// - Parameters:
    ///   - address: The address of the first page.
    ///   - next: The page to continue with; `nil` for the one that the first page names.
    public init(_ feed: Feed, at address: HTTPURL, next: HTTPURL? = nil) {
        (self.feed, self.address, visited) = (feed, address, [address])
        follow(next ?? feed.next)
    }

    /// Adds the items of the next page.
    public mutating func add(_ page: Feed) {
        var builder = FeedBuilder(feed, page, at: address)
        feed = builder.finish()
        follow(page.next)
    }

    /// Ends the reading before the last page, and warns of that.
    /// - Parameter reason: A clause or sentence.
    public mutating func end(_ reason: String) {
        feed.warnings.append("\(Self.warning): \(reason)\(reason.hasSuffix(".") ? "" : ".")")
        next = nil
    }

    private static let warning = "Older pages of the feed are left out"

    /// Returns whether a warning of a feed says that pages are left out.
    public static func isEnd(_ warning: String) -> Bool { warning.hasPrefix(Self.warning) }

    private mutating func follow(_ page: HTTPURL?) {
        next = page
        guard let page else { return }
        if feed.items.count >= Feed.Limits.items {
            end("it has \(Feed.Limits.items) episodes without them")
        } else if visited.count >= Feed.Limits.pages {
            end("only the first \(Feed.Limits.pages) are read")
        } else if !visited.insert(page).inserted {
            end("one of them names an earlier one as the next")
        }
    }
}
