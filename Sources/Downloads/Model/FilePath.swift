/// Where a finished file is below `files`: its name, and the folder that has it.
///
/// It is kept as one text, so that the path of a file without a folder costs no more than its name.
struct FilePath: Sendable, Hashable, CustomStringConvertible {
    /// The folder and the name with a slash between them; the name alone where there is no folder.
    let description: String

    /// - Parameters:
    ///   - name: a safe name, without slashes.
    ///   - folder: names with slashes between them; empty for `files` itself.
    init(_ name: String, in folder: String) {
        description = folder.isEmpty ? name : "\(folder)/\(name)"
    }

    /// Reads a ``description``; `nil` if its names are not safe.
    init?(_ description: String) {
        self.init(description: description)
        let isInFolder = lastSlash != nil
        guard FileNaming.isSafe(name), FileNaming.isSafeFolder(folder), isInFolder != folder.isEmpty else { return nil }
    }

    private init(description: String) {
        self.description = description
    }

    private var lastSlash: String.Index? { description.utf8.lastIndex(of: UInt8(ascii: "/")) }

    /// The file's name.
    var name: String { lastSlash.map { String(description[description.utf8.index(after: $0)...]) } ?? description }

    /// The names of the directories that lead to it, with slashes between them; empty for `files` itself.
    var folder: String { lastSlash.map { String(description[..<$0]) } ?? "" }

    /// The path of another name in the same folder.
    func named(_ name: String) -> FilePath { FilePath(name, in: folder) }
}
