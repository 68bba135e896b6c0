package import System

/// A finished file, as in its record.
package struct PublishedFile: Sendable, Equatable {
    package let path: FilePath
    /// Its length in bytes.
    package let length: Int64
    package let sha256: [UInt8]
    /// Its identity; `nil` if its record was repaired.
    package let identity: FileIdentity?

    package init(path: FilePath, length: Int64, sha256: [UInt8], identity: FileIdentity?) {
        self.path = path
        self.length = length
        self.sha256 = sha256
        self.identity = identity
    }

    /// The maximum length of a small file in bytes. Small files are hashed as they arrive, because handing them to
    /// another thread would cost more, and are flushed together.
    package static let smallLength: Int64 = 1 << 20
}
