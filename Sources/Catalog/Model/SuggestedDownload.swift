/// How a source would have an item downloaded. Names are as the source writes them: nothing in them has been made safe.
public struct SuggestedDownload: Sendable, Equatable {
    /// The directories the file belongs in, from the outermost: a work's, and those of a path within it.
    public var folder: [String] = []
    /// What stands before the title, and is kept when a long name is cut: the number in the work, or a date; nil: nothing.
    public var prefix: String?
    /// The file's name without its extension, or with it where that is no guess.
    public var title: String
    /// The extension with its dot, where the title has none; empty: there is none; nil: the file's media type has to tell it.
    public var suffix: String? = ""
    /// Most connections for the file; nil: the service's own setting.
    public var connections: Int?

    /// A file of that name.
    public init(title: String) {
        self.title = title
    }
}
