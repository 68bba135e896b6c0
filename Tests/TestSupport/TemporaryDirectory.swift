internal import Foundation

/// A directory for one test, removed with its contents when the value is freed.
public final class TemporaryDirectory: Sendable {
    /// Absolute path, without a trailing slash.
    public let path: String

    /// The default parent: in memory if there is enough, since a thousand concurrent tests keep a disk so busy that
    /// commands time out; otherwise, or if TMPDIR is set, the system's temporary directory.
    private static let shelf: String = {
        let memory = "/dev/shm"
        let space = try? FileManager.default.attributesOfFileSystem(forPath: memory)[.systemFreeSize] as? Int64
        let isSet = ProcessInfo.processInfo.environment["TMPDIR"] != nil
        return !isSet && (space ?? 0) > 2 << 30 ? memory : NSTemporaryDirectory()
    }()

    /// Creates the directory; `root` chooses its parent.
    public init(under root: String? = nil) throws {
        path = URL(filePath: root ?? Self.shelf).appending(path: "pawl-test-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
