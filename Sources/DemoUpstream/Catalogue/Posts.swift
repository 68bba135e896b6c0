internal import JSON

/// A hundred short texts in the shape of JSONPlaceholder's posts: `userId`, `id`, `title`, `body`.
enum Posts {
    private static let posts = JSONValue.entries(of: PackageResources.posts_json)

    /// The array of all posts.
    static let all = JSONValue.array(posts).serialized()

    /// One post; `nil` if there is none with this id.
    static func post(_ id: Int) -> [UInt8]? { posts.indices.contains(id - 1) ? posts[id - 1].serialized() : nil }
}
