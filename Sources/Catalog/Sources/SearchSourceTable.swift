/// The table of all sources.
enum SearchSourceTable {
    /// The sources; the first is the default.
    static let all: [any SearchSource.Type] = [
        ITunesSource.self,
        PostsSource.self,
        ArchiveSource.self,
        FeedSource.self,
    ]

    static let descriptions = all.map { $0.description }

    /// The parameter `source`.
    static let parameter = SearchParameter(
        name: "source", summary: "The source to search.", accepted: .values(descriptions.map(\.id)),
        standard: descriptions.first?.id)
}
