import HTTPServer

/// The server's `FileHandle`, for files that import Foundation, which has another.
typealias ServedFile = FileHandle
