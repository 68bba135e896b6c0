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
