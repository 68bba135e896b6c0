/// One part of a body whose length is known.
public enum BodyPart: Sendable {
    /// Bytes in memory.
    case bytes([UInt8])
    /// A section of a file, which the kernel sends without copying it into the process.
    case file(FileSection)

    /// The length in bytes.
    public var length: Int64 {
        switch self {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(let section): section.length
        }
    }
}
