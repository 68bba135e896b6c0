extension [UInt8] {
    /// Appends the bytes of a span; allocates only if the capacity does not hold them.
    mutating func append(_ bytes: Span<UInt8>) {
        append(addingCapacity: bytes.count) { output in
            for index in bytes.indices {
                output.append(bytes[index])
            }
        }
    }

    /// Appends a number in decimal, without a String in between.
    mutating func append(decimal value: Int64) {
        if value < 0 { append(UInt8(ascii: "-")) }
        var divisor: UInt64 = 1
        while value.magnitude / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            append(0x30 &+ UInt8(truncatingIfNeeded: value.magnitude / divisor % 10))
            divisor /= 10
        }
    }

    /// Appends a number with at least `width` digits, zeros in front.
    mutating func append(decimal value: Int, width: Int) {
        if width == 2, value >= 0, value < 100 {
            // Most parts of dates.
            append(0x30 &+ UInt8(truncatingIfNeeded: value / 10))
            append(0x30 &+ UInt8(truncatingIfNeeded: value % 10))
            return
        }
        var divisor = 1
        for _ in 1..<Swift.max(width, 1) { divisor *= 10 }
        while value / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            append(0x30 &+ UInt8(truncatingIfNeeded: value / divisor % 10))
            divisor /= 10
        }
    }
}

extension Span<UInt8> {
    /// Where the bytes of `set` that begin at `start` end; at most `end`.
    @inline(__always)
    func endOfRun(of set: ByteSet, from start: Int, to end: Int) -> Int {
        var index = start
        while index < end, set.contains(self[index]) { index += 1 }
        return index
    }

    /// Whether there is a control among the bytes, HTAB included. Looks at all of them, for that takes several at a time.
    var containsControl: Bool {
        var found: UInt8 = 0
        for index in indices { found |= ASCII.isControl(self[index]) ? 1 : 0 }
        return found != 0
    }

    /// Whether the bytes are `text`, ASCII letters compared without case. `text` must be lowercase.
    func equalsIgnoringCase(_ text: String) -> Bool {
        let expected = text.utf8.span
        guard count == expected.count else { return false }
        for index in indices where ASCII.lowercased(self[index]) != expected[index] { return false }
        return true
    }
}

extension Collection<UInt8> {
    /// Whether the bytes are `text`, ASCII letters compared without case. `text` must be lowercase.
    func equalsIgnoringCase(_ text: String) -> Bool {
        var rest = text.utf8.makeIterator()
        for byte in self {
            guard let expected = rest.next(), ASCII.lowercased(byte) == expected else { return false }
        }
        return rest.next() == nil
    }

    /// The decimal number these bytes are: digits only, at least one, at most `Int64.max`. Nil otherwise.
    var decimalValue: Int64? {
        guard !isEmpty else { return nil }
        var value: Int64 = 0
        for byte in self {
            guard ASCII.isDigit(byte) else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int64(byte &- 0x30))
            guard !overflow, !carry else { return nil }
            value = sum
        }
        return value
    }
}

extension BidirectionalCollection<UInt8> {
    /// The bytes without SP and HTAB at both ends.
    var trimmingWhiteSpace: SubSequence {
        var start = startIndex
        while start < endIndex, ASCII.isWhiteSpace(self[start]) { start = index(after: start) }
        var end = endIndex
        while end > start, ASCII.isWhiteSpace(self[index(before: end)]) { end = index(before: end) }
        return self[start..<end]
    }
}

extension String {
    /// The text of a field value: UTF-8 where the bytes are valid UTF-8, else ISO-8859-1, which RFC 9110 §5.5 calls the
    /// historical encoding and which every byte sequence is.
    init(fieldText bytes: some Collection<UInt8>) {
        if let text = String(validating: bytes, as: UTF8.self) {
            self = text
        } else {
            self = String(String.UnicodeScalarView(bytes.lazy.map { UnicodeScalar($0) }))
        }
    }
}
