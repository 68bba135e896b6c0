/// Resolution of the Range field: RFC 9110 §14.2.
public enum RangeSet {
    /// The effect of a Range field on the response.
    public enum Outcome: Sendable, Hashable {
        /// Respond as if the field were absent: it has another unit, a syntax error or too many ranges.
        case ignore
        /// Respond with these ranges, one or more. None of them overlap or touch.
        case satisfiable([ByteRange])
        /// Respond with 416: no range overlaps the representation.
        case unsatisfiable
    }

    /// Resolves a Range value for a representation of `length` bytes.
    ///
    /// A field with more than `maximum` ranges is ignored: many small ranges are an attack (RFC 9110 §17.15). Ranges
    /// that overlap or touch are merged at the position of the first of them. Otherwise the order of the request is
    /// kept.
    public static func resolve(_ value: String, length: Int64, maximum: Int = 16) -> Outcome {
        let bytes = Array(value.utf8)
        guard let unitEnd = bytes.firstIndex(of: ASCII.equals), bytes[..<unitEnd].equalsIgnoringCase("bytes") else {
            return .ignore
        }
        var ranges: [ByteRange] = []
        var count = 0
        var isEmptySuffix = false
        for member in ListMembers(bytes[(unitEnd + 1)...]) {
            count += 1
            guard count <= maximum, let specifier = Specifier(member) else { return .ignore }
            if let range = specifier.resolved(length) {
                ranges.append(range)
            } else if case .suffix(let suffix) = specifier, suffix > 0 {
                isEmptySuffix = true
            }
        }
        guard count > 0 else { return .ignore }
        if ranges.isEmpty {
            // The last n bytes of an empty representation are satisfiable (RFC 9110 §14.1.2). A 206 cannot express
            // that, so 200 is sent.
            return isEmptySuffix ? .ignore : .unsatisfiable
        }
        return .satisfiable(coalesced(ranges))
    }

    /// One member of the list. Larger numbers become `Int64.max`.
    private enum Specifier {
        case from(Int64)
        case fromThrough(Int64, Int64)
        case suffix(Int64)

        init?(_ bytes: ArraySlice<UInt8>) {
            guard let dash = bytes.firstIndex(of: UInt8(ascii: "-")) else { return nil }
            let first = bytes[..<dash]
            let last = bytes[(dash + 1)...]
            if first.isEmpty {
                guard let length = Specifier.number(last) else { return nil }
                self = .suffix(length)
            } else if last.isEmpty {
                guard let start = Specifier.number(first) else { return nil }
                self = .from(start)
            } else {
                guard let start = Specifier.number(first), let end = Specifier.number(last), start <= end else {
                    return nil
                }
                self = .fromThrough(start, end)
            }
        }

        /// Parses digits. A number above `Int64.max` becomes `Int64.max`, which also exceeds any representation.
        static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
            guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) else { return nil }
            return digits.decimalValue ?? .max
        }

        func resolved(_ length: Int64) -> ByteRange? {
            switch self {
            case .from(let start):
                return start < length ? ByteRange(start: start, length: length - start) : nil
            case .fromThrough(let start, let last):
                return start < length ? ByteRange(start: start, length: min(last, length - 1) - start + 1) : nil
            case .suffix(let suffix):
                let count = min(suffix, length)
                return count > 0 ? ByteRange(start: length - count, length: count) : nil
            }
        }
    }

    private static func coalesced(_ ranges: [ByteRange]) -> [ByteRange] {
        guard ranges.count > 1 else { return ranges }
        var merged: [(order: Int, range: ByteRange)] = []
        for (order, range) in ranges.enumerated().sorted(by: { $0.element.start < $1.element.start }) {
            if let last = merged.last, range.start <= last.range.end {
                let end = max(last.range.end, range.end)
                merged[merged.count - 1] = (
                    min(last.order, order), ByteRange(start: last.range.start, length: end - last.range.start)
                )
            } else {
                merged.append((order, range))
            }
        }
        return merged.sorted { $0.order < $1.order }.map(\.range)
    }
}
