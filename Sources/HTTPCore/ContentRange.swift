/// The byte range that a response carries, and the length of the whole: RFC 9110 §14.4.
public struct ContentRange: Sendable, Hashable {
    /// The offset of the first byte; nil if the range could not be satisfied, `bytes */100`.
    public let start: Int64?
    /// The offset of the last byte, inclusive; nil together with `start`.
    public let end: Int64?
    /// The length of the whole representation in bytes; nil if unknown, `*`.
    public let total: Int64?

    /// Creates the range of a 206 response.
    public init(_ range: ByteRange, total: Int64?) {
        start = range.start
        end = range.end - 1
        self.total = total
    }

    /// Creates the unsatisfied range of a 416 response.
    public init(unsatisfiedOf total: Int64) {
        start = nil
        end = nil
        self.total = max(total, 0)
    }

    /// Parses a value in bytes: `bytes 0-9/100`, `bytes 0-9/*` or `bytes */100`. Nil for other units, for a range that
    /// ends before its start or beyond the total, and for numbers of 2^63 or more.
    public init?(parsing text: String) {
        let bytes = Array(text.utf8)[...].trimmingWhiteSpace
        guard let space = bytes.firstIndex(of: ASCII.space), bytes[..<space].equalsIgnoringCase("bytes"),
            let slash = bytes.firstIndex(of: ASCII.slash), slash > space
        else { return nil }
        let range = bytes[(space + 1)..<slash]
        let totalText = bytes[(slash + 1)...]
        if totalText.elementsEqual("*".utf8) {
            total = nil
        } else {
            guard let value = totalText.decimalValue else { return nil }
            total = value
        }
        if range.elementsEqual("*".utf8) {
            // The grammar excludes `bytes */*`.
            guard total != nil else { return nil }
            start = nil
            end = nil
            return
        }
        guard let dash = range.firstIndex(of: UInt8(ascii: "-")), let first = range[..<dash].decimalValue,
            let last = range[(dash + 1)...].decimalValue, first <= last, last < total ?? .max
        else { return nil }
        start = first
        end = last
    }
}

extension ContentRange: CustomStringConvertible {
    /// The value in a field: `bytes 0-9/100`.
    public var description: String {
        let total = total.map { String($0) } ?? "*"
        guard let start, let end else { return "bytes */\(total)" }
        return "bytes \(start)-\(end)/\(total)"
    }
}
