internal import Foundation

/// A directory of its own for one test, removed with everything in it when the value goes away.
public final class TemporaryDirectory: Sendable {
    /// Absolute path, without a trailing slash.
    public let path: String

    /// Where directories are made unless told: in memory, where there is enough, for a thousand tests at once keep a disk so busy that
    /// commands are given up; else, or if TMPDIR is set, in the system's temporary directory.
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
