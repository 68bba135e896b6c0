import HTTPServer
import System

/// The server's `FileHandle`, for files that import Foundation, which has another type of this name.
typealias ServedFile = FileHandle

extension FileHandle {
    /// Opens the file with this name.
    convenience init(opening path: String) throws {
        let file = try FileDescriptor(opening: path)
        self.init(file, identity: try file.status().identity)
    }
}
