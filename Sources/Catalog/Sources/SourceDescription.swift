import HTTPCore

/// A source as its users see it.
struct SourceDescription: Sendable {
    /// The value of `source`, and the beginning of ids.
    let id: String
    let name: String
    /// Where it is, unless the configuration says otherwise.
    let base: HTTPURL
    /// What must stand beside its results.
    let attribution: String?
    /// The media types a response may have, in lowercase.
    let mediaTypes: [String]
    /// What ids look like, for people.
    let ids: [String]
    /// Whether items of it have parts.
    var hasParts = false
    /// Whether parts come in formats.
    var hasFormats = false
    /// How often it may be asked; nil: as often as the configuration says of every source.
    var pace: Pace?
    /// Everything it takes but `source`.
    let parameters: [SearchParameter]

    /// How often a source may be asked.
    struct Pace: Sendable {
        let requests: Int
        /// The time in which no more requests are made than that.
        let period: Duration
    }
}

/// The sources that there are.
enum SourceTable {
    /// One row for each; the first is the one that is asked when none is named.
    static let all: [any SearchSource.Type] = [
        ITunesSource.self,
        PostsSource.self,
        ArchiveSource.self,
    ]

    static let descriptions = all.map { $0.description }

    /// The parameter `source` itself.
    static let parameter = SearchParameter(
        name: "source", summary: "Where to search.", accepted: .values(descriptions.map(\.id)), standard: descriptions.first?.id)
}
