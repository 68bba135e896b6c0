public import System

/// The content of a request.
public enum RequestBody: Sendable, ExpressibleByArrayLiteral {
    /// Bytes in memory.
    case bytes([UInt8])
    /// A range of a file, which is read during the transfer and not kept in memory. The file must not become shorter
    /// before the end.
    case file(FileDescriptor, Range<Int64>)

    /// Creates a body from bytes.
    public init(arrayLiteral elements: UInt8...) {
        self = .bytes(elements)
    }

    /// The length in bytes.
    public var count: Int64 {
        switch self {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(_, let range): range.upperBound - range.lowerBound
        }
    }
}
