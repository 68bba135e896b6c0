/// A source as its users see it.
struct SourceDescription: Sendable {
    /// The value of `source`, and the beginning of ids.
    let id: String
    let name: String
    /// What must stand beside its results.
    let attribution: String?
    /// The media types a response may have, in lowercase.
    let mediaTypes: [String]
    /// Everything it takes but `source`.
    let parameters: [SearchParameter]
}

extension SourceDescription {
    /// All sources; the first is the one that is asked when none is named.
    static let all = [ITunesSource.description, PostsSource.description]

    /// The parameter `source` itself.
    static let parameter = SearchParameter(
        name: "source", summary: "Where to search.", accepted: .values(all.map(\.id)), standard: ITunesSource.description.id)
}
