/// The directory of finished files as clients see it: `dir` is this directory or one below it, which is a download's
/// folder.
struct FilesDirectory: Sendable {
    /// The absolute path, without a slash at its end.
    let path: String
    private let names: [Substring]

    /// - Parameter path: An absolute path.
    init(_ path: String) {
        names = Self.names(path) ?? []
        self.path = "/" + names.joined(separator: "/")
    }

    /// The folder for a directory; a relative path is below `files`.
    /// - Throws: An error that names the accepted directories, if the path is outside. A file is never silently stored
    ///   elsewhere.
    func folder(ofDirectory directory: String) throws(RPCError) -> String {
        guard let wanted = Self.names(directory) else { throw refusal }
        guard directory.first == "/" else { return wanted.joined(separator: "/") }
        guard wanted.starts(with: names) else { throw refusal }
        return wanted.dropFirst(names.count).joined(separator: "/")
    }

    /// The directory of a folder.
    func directory(ofFolder folder: String) -> String {
        folder.isEmpty ? path : path == "/" ? "/\(folder)" : "\(path)/\(folder)"
    }

    private var refusal: RPCError {
        .badOption("dir", "It takes \(path) or a directory below it. Only the service's own options change \(path).")
    }

    /// The names of a path's directories; `nil` if one of them is `..`.
    private static func names(_ path: String) -> [Substring]? {
        let names = path.split(separator: "/").filter { $0 != "." }
        return names.contains("..") ? nil : names
    }
}
