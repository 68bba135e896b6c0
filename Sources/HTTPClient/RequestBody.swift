public import System

/// The content of a request.
public enum RequestBody: Sendable, ExpressibleByArrayLiteral {
    /// These bytes.
    case bytes([UInt8])
    /// A range of a file, which is read while it is sent; nothing of it is kept. The file must be that long until the transfer has ended.
    case file(FileDescriptor, Range<Int64>)

    /// Bytes.
    public init(arrayLiteral elements: UInt8...) {
        self = .bytes(elements)
    }

    /// How many bytes it has.
    public var count: Int64 {
        switch self {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(_, let range): range.upperBound - range.lowerBound
        }
    }
}
