internal import DownloadCore

/// A numbered SQL file that brings a database from the version before to its own.
///
/// A released file never changes. A new shape is another file with the next number, at the end of its list.
package struct SchemaFile: Sendable {
    /// The versions of the record file's schema, in order. Smaller versions belong to unreleased builds.
    package static let sqlite = [SchemaFile(105, PackageResources.sqlite_105_sql)]
    /// The versions of the schema of a fleet's database, in order. Smaller versions belong to unreleased builds.
    static let fleet = [SchemaFile(104, PackageResources.postgres_104_sql)]

    /// The version that the file makes.
    let version: Int
    /// The statements of the file.
    let sql: String

    init(_ version: Int, _ sql: String) {
        self.version = version
        self.sql = sql
    }

    /// Creates the first or a later version from an embedded file.
    init(_ version: Int, _ bytes: [UInt8]) {
        self.init(version, String(decoding: bytes, as: UTF8.self))
    }
}

extension [SchemaFile] {
    /// The version that the last file makes.
    var newestVersion: Int { last?.version ?? 0 }

    /// Returns the files that a database lacks.
    /// - Parameters:
    ///   - found: The version of the database; 0 for an empty database.
    ///   - oldest: The oldest version whose programs may use the database.
    ///   - path: The database, for the error.
    ///   - unreleased: The error for a version before the first file.
    /// - Throws: `unreleased`, or `StoreError.newerSchema`.
    func missing(
        from found: Int, oldest: Int, in path: String, unreleased: StoreError
    ) throws(StoreError) -> [SchemaFile] {
        guard found == 0 || found >= first?.version ?? 0 else { throw unreleased }
        guard oldest <= newestVersion else { throw .newerSchema(path: path, found: found, supported: newestVersion) }
        return filter { $0.version > found }
    }
}
