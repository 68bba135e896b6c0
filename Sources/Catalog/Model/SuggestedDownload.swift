import HTTPCore

/// A source's suggestions for the download of an item. Names are as the source writes them, and not sanitised.
public struct SuggestedDownload: Sendable, Equatable {
    /// The folders of the file, from the outermost: the work's, then the folders of a path within it.
    public var folder: [String] = []
    /// A prefix of the title, such as the number in the work or a date, which is kept when a long name is cut; `nil` if
    /// there is none.
    public var prefix: String?
    /// The file's name, usually without its extension.
    public var title: String
    /// The extension with its dot; empty if the title includes it or there is none; `nil` if the media type decides.
    public var suffix: String? = ""
    /// The maximum number of connections for the file; `nil` for the service's setting.
    public var connections: Int?

    /// Creates a suggestion with a title.
    public init(title: String) {
        self.title = title
    }
}

extension String {
    /// Returns the text without an ending, if it has this one in any case.
    package func dropping(suffix: String) -> String {
        let ending = utf8.suffix(suffix.utf8.count)
        guard !suffix.isEmpty, String(Substring(ending)).asciiLowercased == suffix.asciiLowercased else { return self }
        return String(self[..<ending.startIndex])
    }
}
