internal import Foundation

/// Many bytes for comparison in an expectation.
///
/// If two arrays differ, `#expect` computes and prints the shortest edit, which takes hours for long arrays with little
/// in common.
public struct Bytes: Equatable, Sendable, CustomStringConvertible {
    private let data: Data

    /// Copies the bytes.
    public init(_ bytes: some Sequence<UInt8>) {
        data = Data(bytes)
    }

    /// The number of bytes, and the first sixteen in hexadecimal.
    public var description: String {
        let beginning = data.prefix(16).map { String($0, radix: 16) }.joined(separator: " ")
        return "\(data.count) bytes: \(beginning)\(data.count > 16 ? " …" : "")"
    }
}
