internal import PawlConfiguration
internal import System

/// The directory that holds everything of a fleet, for one at a time.
struct FleetDirectory: Sendable {
    /// Its absolute path.
    let path: String
    /// What database and storage ask for: other users of the machine reach their ports as well.
    let secret: String
    /// Locked for as long as it is open.
    private let lock: Directory

    /// Takes a directory, and makes it if it isn't there.
    /// - Parameter claimed: the same, open, if it was claimed.
    /// - Throws: one line that says why that is not possible.
    init(_ path: String, claimed: Directory? = nil) throws(StartError) {
        do {
            if claimed == nil { try SmallFile.makeDirectory(path) }
            self.path = ProcessEnvironment.absolutePath(path)
            lock = try claimed ?? Directory(opening: self.path)
            guard try lock.lock() else { throw StartError("\(path) is in use by another process") }
            // The database's user has to find the way through. What is in there lets nobody else in.
            let permissions = try lock.status().permissions
            if UserAccount.isRoot, permissions & 0o001 == 0 { try lock.setPermissions(permissions | 0o011) }
            secret = try Self.secret("secret", in: lock)
        } catch let error as StartError {
            throw error
        } catch {
            throw StartError("cannot use \(path): \(error)")
        }
    }

    /// The secret of the last run, or a new one.
    private static func secret(_ name: String, in directory: Directory) throws(SystemError) -> String {
        if let kept = try directory.contents(of: name) { return String(decoding: kept, as: UTF8.self) }
        // From the system's generator, which is good enough for keys.
        let secret = (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
        try directory.write(Array(secret.utf8), to: name)
        return secret
    }
}
