/// The directory of finished files, as clients know it: `dir` is this, or one below it, which is a download's folder.
struct FilesDirectory: Sendable {
    /// Absolute, without a slash at its end.
    let path: String
    private let names: [Substring]

    /// - Parameter path: absolute.
    init(_ path: String) {
        names = Self.names(path) ?? []
        self.path = "/" + names.joined(separator: "/")
    }

    /// The folder that a directory is; a relative one is below `files`.
    /// - Throws: what is accepted, if it leads anywhere else: a file is never silently somewhere else than it was asked for.
    func folder(ofDirectory directory: String) throws(RPCError) -> String {
        guard let wanted = Self.names(directory) else { throw refusal }
        guard directory.first == "/" else { return wanted.joined(separator: "/") }
        guard wanted.starts(with: names) else { throw refusal }
        return wanted.dropFirst(names.count).joined(separator: "/")
    }

    /// The directory of a download in that folder.
    func directory(ofFolder folder: String) -> String {
        folder.isEmpty ? path : path == "/" ? "/\(folder)" : "\(path)/\(folder)"
    }

    private var refusal: RPCError {
        .badOption("dir", "It takes \(path) or a directory below it; the service is told of another by its own option.")
    }

    /// The names of a path's directories; `nil` if it goes up.
    private static func names(_ path: String) -> [Substring]? {
        let names = path.split(separator: "/").filter { $0 != "." }
        return names.contains("..") ? nil : names
    }
}
