internal import System

extension PartFiles {
    /// The operations that tests replace. The first three give the file a name in another directory.
    package struct Operations: Sendable {
        typealias Call = @Sendable (Directory, String, Directory, String) throws(SystemError) -> Void

        /// Gives the file a second name, which must be free.
        var link: Call = { (from, name, to, newName) throws(SystemError) in try from.link(name, to: to, as: newName) }
        /// Renames the file to a name that must be free.
        var rename: Call = { (from, name, to, newName) throws(SystemError) in
            try from.renameExclusively(name, to: to, as: newName)
        }
        /// Renames the file, and replaces the file with the new name.
        var replace: Call = { (from, name, to, newName) throws(SystemError) in
            try from.rename(name, to: to, as: newName)
        }
        /// Returns the space of the file system of a directory.
        var space: @Sendable (Directory) throws(SystemError) -> FileSystemSpace = { (directory) throws(SystemError) in
            try directory.space()
        }
        /// Begins a verification.
        var verify: @Sendable (Verification) -> Void = { $0.begin() }

        /// Links a file to a name that must be free, or moves it. Returns whether it was moved.
        func give(
            _ newName: String, to name: String, in source: Directory, _ directory: Directory
        ) throws(SystemError) -> Bool {
            guard let failure = try attempt(link, name, source, directory, newName) else { return false }
            if failure.meansOtherFileSystem {
                // No empty file reserves a name in a folder that the file may not reach.
                if try attempt(rename, name, source, directory, newName) == nil { return true }
                throw failure
            }
            try move(name, from: source, to: directory, as: newName)
            return true
        }

        /// Gives a file a name that must be free. Returns the error if another way may succeed.
        private func attempt(
            _ call: Call, _ name: String, _ source: Directory, _ directory: Directory, _ newName: String
        ) throws(SystemError) -> SystemError? {
            do throws(SystemError) {
                try call(source, name, directory, newName)
                return nil
            } catch {
                if error.leavesOtherWays { return error }
                throw error
            }
        }

        /// Renames a file to a name that must be free.
        func move(
            _ name: String, from source: Directory, to directory: Directory, as newName: String
        ) throws(SystemError) {
            if try attempt(rename, name, source, directory, newName) != nil {
                try moveOverReservation(name, source, directory, newName)
            }
        }

        /// Creates an empty file with a name that must be free, and renames a file over it.
        private func moveOverReservation(
            _ name: String, _ source: Directory, _ directory: Directory, _ newName: String
        ) throws(SystemError) {
            _ = try directory.open(newName, .creating)
            // Looked up by name, because on some file systems a descriptor has another inode.
            let reserved = try directory.status(of: newName)?.identity
            func isReserved() throws(SystemError) -> Bool {
                guard let status = try directory.status(of: newName), status.kind == .regular, status.links <= 1,
                    status.identity.size == 0
                else { return false }
                return status.identity.device == reserved?.device && status.identity.inode == reserved?.inode
            }
            // Another program has replaced the reservation with its own file.
            guard try isReserved() else { throw SystemError.alreadyExists }
            do throws(SystemError) {
                return try replace(source, name, directory, newName)
            } catch {
                guard try isReserved() else { throw error }
            }
            // Some file systems cannot rename over a file.
            try directory.remove(newName)
            if try directory.status(of: newName) != nil { throw SystemError.alreadyExists }
            try replace(source, name, directory, newName)
        }
    }
}
