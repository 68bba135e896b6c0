/// The path of a finished file below `files`: its folder and its name.
///
/// The path is kept as one text, so that it costs no more than the name if there is no folder.
package struct FilePath: Sendable, Hashable, CustomStringConvertible {
    /// The folder and the name with a slash between them; the name alone if there is no folder.
    package let description: String

    /// Creates a path.
    /// - Parameters:
    ///   - name: A safe name without slashes.
    ///   - folder: Names separated by slashes; empty for `files` itself.
    package init(_ name: String, in folder: String) {
        description = folder.isEmpty ? name : "\(folder)/\(name)"
    }

    /// Parses a ``description``; `nil` if a name in it is not safe.
    package init?(_ description: String) {
        self.init(description: description)
        let isInFolder = lastSlash != nil
        guard FileNaming.isSafe(name), FileNaming.isSafeFolder(folder), isInFolder != folder.isEmpty else { return nil }
    }

    private init(description: String) {
        self.description = description
    }

    private var lastSlash: String.Index? { description.utf8.lastIndex(of: UInt8(ascii: "/")) }

    /// The file's name.
    package var name: String { lastSlash.map { String(description[description.utf8.index(after: $0)...]) } ?? description }

    /// The names of the directories above the file, separated by slashes; empty for `files` itself.
    package var folder: String { lastSlash.map { String(description[..<$0]) } ?? "" }
}
