public import HTTPCore
import XML

/// A feed that a page announces (`<link rel="alternate">`).
public enum FeedLink {
    /// Returns the address of the first feed that an HTML page announces; `nil` if there is none, or the document is a
    /// feed itself.
    /// - Parameters:
    ///   - address: The address of the page.
    ///   - charset: The `charset` of its media type; `nil` if it has none.
    public static func first(in page: [UInt8], at address: HTTPURL, charset: String? = nil) -> HTTPURL? {
        guard let first = page.first(where: { $0 > 0x20 }), first != UInt8(ascii: "{") else { return nil }
        var reader = XMLReader(TextEncoding.decoded(Array(page.prefix(1 << 20)), charset: charset).text, isTolerant: true)
        var base = address
        while let token = try? reader.next() {
            guard token == .start else { continue }
            switch reader.name.lowercased() {
            case "rss", "rdf", "feed", "channel": return nil
            case "base": base = reader.attribute("href").flatMap(address.resolving) ?? base
            case "link":
                let relations = reader.attribute("rel")?.lowercased().split(separator: " ") ?? []
                let type = reader.attribute("type").flatMap { MediaType(parsing: $0)?.essence }
                guard relations.contains("alternate"), let type, types.contains(type), let target = reader.attribute("href"),
                    let url = base.resolving(target)
                else { continue }
                return url
            default: break
            }
        }
        return nil
    }

    private static let types = ["application/rss+xml", "application/atom+xml", "application/feed+json"]
}
