internal import Foundation

/// A directory of its own for one test, removed with everything in it when the value goes away.
public final class TemporaryDirectory: Sendable {
    /// Absolute path, without a trailing slash.
    public let path: String

    /// Creates the directory in the system's temporary directory; `root` chooses another parent, such as `/dev/shm`.
    public init(under root: String? = nil) throws {
        let parent = root ?? NSTemporaryDirectory()
        path = URL(filePath: parent).appending(path: "pawl-test-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
