/// Which bytes of what a response carries: RFC 9110 §14.4.
public struct ContentRange: Sendable, Hashable {
    /// The first byte's offset; nil in the response to a range that can't be satisfied, `bytes */100`.
    public let start: Int64?
    /// The last byte's offset, inclusive; nil together with `start`.
    public let end: Int64?
    /// The length of the whole representation in bytes; nil if unknown, `*`.
    public let total: Int64?

    /// What a 206 carries.
    public init(_ range: ByteRange, total: Int64?) {
        start = range.start
        end = range.end - 1
        self.total = total
    }

    /// What a 416 says.
    public init(unsatisfiedOf total: Int64) {
        start = nil
        end = nil
        self.total = max(total, 0)
    }

    /// Reads a value in bytes: `bytes 0-9/100`, `bytes 0-9/*` or `bytes */100`. Nil for other units, for ranges that end
    /// before they start or beyond the total, and for numbers of 2^63 or more.
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
            // `bytes */*` says nothing and isn't in the grammar.
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
    /// As in a field: `bytes 0-9/100`.
    public var description: String {
        let total = total.map { String($0) } ?? "*"
        guard let start, let end else { return "bytes */\(total)" }
        return "bytes \(start)-\(end)/\(total)"
    }
}
