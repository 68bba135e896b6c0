internal import System

/// The directory in which `pawl get` saves its files.
struct GetTarget {
    /// The names of hidden directories, in the order in which they are tried. Each command has its own one.
    static let workNames = [".pawl-get"] + (2...64).map { ".pawl-get-\($0)" }

    /// The path of the directory.
    let path: String
    /// The name of the only file; `nil` if the origin or the URL decides.
    let output: String?
    /// The opened directory. Its path may come to mean another directory.
    let directory: Directory

    /// Opens the directory; creates a missing one.
    init(_ invocation: Invocation) throws(PrivateDirectoryError) {
        (path, output) = Self.parts(of: invocation.output, in: invocation.directory)
        do throws(SmallFile.Failure) {
            try SmallFile.makeDirectory(path)
        } catch {
            throw PrivateDirectoryError(error.description)
        }
        directory = try Directory(parentOfPrivate: path)
        if let output, let found = try? directory.status(of: output), found.kind == .other || found.kind == .directory {
            // A rename would replace a device such as /dev/null.
            let kind = found.kind == .directory ? "a directory" : "a pipe, a socket or a device"
            throw PrivateDirectoryError(
                "\(SmallFile.path(of: output, in: path)) is \(kind): -o takes the name of a file", isRefusal: true)
        }
    }

    /// Waits at most two seconds for a lock of the directory.
    /// - Returns: The locked directory; `nil` if it stays locked, or has no locks.
    func lock() async -> Directory? {
        // The target itself is only a path without access.
        guard let locked = try? Directory(opening: path) else { return nil }
        for _ in 0..<100 {
            guard let isLocked = try? locked.lock() else { return nil }
            if isLocked { return locked }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return nil
    }

    /// The path of a file, for messages.
    func path(of name: String) -> String { SmallFile.path(of: name, in: path) }

    /// The names of hidden directories that exist.
    var existingWork: [String] { Self.workNames.filter { (try? directory.status(of: $0)) != nil } }

    /// The directory and, if given, the name of a file.
    /// - Parameters:
    ///   - output: A name or a path, relative to the directory unless it begins with a slash.
    ///   - directory: The directory of files without a path.
    static func parts(of output: String?, in directory: String) -> (directory: String, name: String?) {
        guard let output else { return (directory, nil) }
        let (folder, name) = SmallFile.parts(of: output.hasPrefix("/") || directory == "." ? output : directory + "/" + output)
        return (folder, name)
    }
}

/// The directories of one `pawl get`: its target, and a hidden directory in it.
struct GetDirectories {
    /// The target.
    let target: GetTarget
    /// The name of the hidden directory.
    let workName: String
    /// The opened hidden directory, to which no other user can write.
    let work: Directory

    /// The path of the hidden directory.
    var workPath: String { "\(target.path)/\(workName)" }

    /// Opens the hidden directory, and locks it until this value is freed. Creates a missing one. Returns `nil` if
    /// another process has locked it, or removes it at the same time.
    init?(_ target: GetTarget, locking workName: String) throws(PrivateDirectoryError) {
        self.target = target
        self.workName = workName
        work = try target.directory.openPrivateDirectory(workName, at: "\(target.path)/\(workName)")
        guard (try? target.directory.status(of: workName))?.kind != .link else {
            throw PrivateDirectoryError("\(target.path)/\(workName) is a link, which is not followed", isRefusal: true)
        }
        do throws(SystemError) {
            guard try work.lock(), isNamed else { return nil }
        } catch {
            throw PrivateDirectoryError("cannot lock \(workPath): \(error)")
        }
    }

    /// Whether the name of the hidden directory leads to the opened one.
    private var isNamed: Bool {
        guard let own = try? work.status().identity, let found = try? target.directory.status(of: workName) else {
            return false
        }
        return found.identity.isSameFile(as: own)
    }

    /// The status of a finished file in the hidden directory.
    func finished(_ name: String) -> FileStatus? { try? work.openDirectory("files").status(of: name) }

    /// Moves a finished file to the target. A name from the origin never replaces a file; a name from the user does.
    /// - Returns: The path of the file, for messages.
    func save(_ name: String, mode: UInt32) throws(SystemError) -> String {
        let files = try work.openDirectory("files")
        try files.open(name, .reading).setPermissions(mode)
        if let output = target.output {
            try files.rename(name, to: target.directory, as: output)
            return target.path(of: output)
        }
        var candidate = name
        while try !files.renameIfFree(name, to: target.directory, as: candidate) { candidate = Self.numbered(candidate) }
        return target.path(of: candidate)
    }

    /// Removes the hidden directory, if it only contains the engine's own files. Leaves it to another process that has
    /// locked it since the engine was closed.
    func removeWork() {
        guard (try? work.lock()) == true else { return }
        for name in ["pawl.sqlite", "pawl.sqlite-wal", "pawl.sqlite-shm", "in-transfer"] { _ = try? work.remove(name) }
        for name in ["incomplete", "files"] { try? work.removeDirectory(name) }
        if isNamed { try? target.directory.removeDirectory(workName) }
    }

    /// The next name to try: `a (2).txt` after `a.txt`, then `a (3).txt`.
    static func numbered(_ name: String) -> String {
        let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 } ?? name.endIndex
        var stem = name[..<dot]
        var number = 2
        // Only a number in the form written here is incremented.
        if stem.last == ")", let open = stem.lastIndex(of: "("), stem[..<open].last == " ",
            let last = Int(stem[open...].dropFirst().dropLast()), (2...9999).contains(last)
        {
            stem = stem[..<open].dropLast()
            number = last + 1
        }
        let tail = " (\(number))\(name[dot...])"
        // The name may already have the maximum length of the file system.
        while !stem.isEmpty, stem.utf8.count + tail.utf8.count > max(name.utf8.count, 128) { stem.removeLast() }
        return "\(stem)\(tail)"
    }
}
