/// One piece of a body whose length is known.
public enum BodyPart: Sendable {
    /// Bytes in memory.
    case bytes([UInt8])
    /// A piece of a file, sent by the kernel without passing through the process.
    case file(FileSection)

    /// The length in bytes.
    public var length: Int64 {
        switch self {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(let section): section.length
        }
    }
}

/// A piece of a file.
public struct FileSection: Sendable {
    /// The file, held open until the piece is sent.
    public let file: FileHandle
    /// Where the piece begins, in bytes.
    public let offset: Int64
    /// How long it is, in bytes. A file that turns out shorter breaks the connection off, for the length is promised by then.
    public let length: Int64

    /// That piece of that file. Negative numbers count as 0.
    public init(file: FileHandle, offset: Int64, length: Int64) {
        self.file = file
        self.offset = max(offset, 0)
        self.length = max(length, 0)
    }
}
