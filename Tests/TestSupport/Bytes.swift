internal import Foundation

/// Many bytes, to be compared in an expectation.
///
/// Where two arrays differ, `#expect` looks for the shortest way from one to the other, which takes hours if they are long and have
/// little in common, and prints both.
public struct Bytes: Equatable, Sendable, CustomStringConvertible {
    private let data: Data

    /// Copies the bytes.
    public init(_ bytes: some Sequence<UInt8>) {
        data = Data(bytes)
    }

    /// How many there are, and the first sixteen in hexadecimal.
    public var description: String {
        let beginning = data.prefix(16).map { String($0, radix: 16) }.joined(separator: " ")
        return "\(data.count) bytes: \(beginning)\(data.count > 16 ? " …" : "")"
    }
}
