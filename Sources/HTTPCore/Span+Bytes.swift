extension [UInt8] {
    /// Appends the bytes of a span. It allocates only if the capacity is insufficient.
    mutating func append(_ bytes: Span<UInt8>) {
        append(addingCapacity: bytes.count) { output in
            for index in bytes.indices {
                output.append(bytes[index])
            }
        }
    }

    /// Appends a number in decimal, without an intermediate String.
    mutating func append(decimal value: Int64) {
        if value >= 0, value < 100_000_000 { return append(short: UInt32(truncatingIfNeeded: value)) }
        var digits = InlineArray<20, UInt8>(repeating: 0x30)
        var start = digits.count
        var rest = value.magnitude
        repeat {
            start -= 1
            digits[start] = 0x30 &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        if value < 0 {
            start -= 1
            digits[start] = UInt8(ascii: "-")
        }
        append(digits.span.extracting(start...))
    }

    /// Appends a number with at most eight digits, which fit into one word.
    private mutating func append(short value: UInt32) {
        // The first digit is in the lowest byte.
        var (digits, count, rest) = (UInt64(0), 0, value)
        repeat {
            digits = digits << 8 | UInt64(0x30 &+ rest % 10)
            rest /= 10
            count += 1
        } while rest > 0
        append(addingCapacity: 8) { output in
            for _ in 0..<count {
                output.append(UInt8(truncatingIfNeeded: digits))
                digits >>= 8
            }
        }
    }

    /// Appends a number with at least `width` digits, padded with zeros.
    mutating func append(decimal value: Int, width: Int) {
        if width > 1 || value >= 10 { append(decimal: value / 10, width: width - 1) }
        append(0x30 &+ UInt8(truncatingIfNeeded: value % 10))
    }
}

extension Span<UInt8> {
    /// The end of the run of bytes of `set` that begins at `start`; at most `end`.
    func endOfRun(of set: ByteSet, from start: Int, to end: Int) -> Int {
        var index = start
        while index < end, set.contains(self[index]) { index += 1 }
        return index
    }

    /// The offset of the first such byte from `start`; the end if there is none.
    func offset(of byte: UInt8, from start: Int) -> Int {
        var index = start
        while index < count, self[index] != byte { index += 1 }
        return index
    }

    /// Whether the bytes include a control or HTAB. It has no early exit, so that the compiler can vectorise the loop.
    var containsControl: Bool {
        var found = false
        for index in indices { found = ASCII.isControl(self[index]) || found }
        return found
    }

    /// Whether the bytes equal `text`, with ASCII letters compared without case.
    func equalsIgnoringCase(_ text: String) -> Bool {
        let expected = text.utf8.span
        guard count == expected.count else { return false }
        for index in indices where ASCII.lowercased(self[index]) != ASCII.lowercased(expected[index]) { return false }
        return true
    }
}

extension Collection<UInt8> {
    /// Whether the bytes equal `text`, with ASCII letters compared without case.
    func equalsIgnoringCase(_ text: String) -> Bool {
        var rest = text.utf8.makeIterator()
        for byte in self {
            guard let expected = rest.next(), ASCII.lowercased(byte) == ASCII.lowercased(expected) else { return false }
        }
        return rest.next() == nil
    }

    /// The value of a decimal number up to `Int64.max`; nil unless the bytes are digits only, at least one.
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
    /// The bytes without leading and trailing SP and HTAB.
    public var trimmingWhiteSpace: SubSequence {
        var start = startIndex
        while start < endIndex, ASCII.isWhiteSpace(self[start]) { start = index(after: start) }
        var end = endIndex
        while end > start, ASCII.isWhiteSpace(self[index(before: end)]) { end = index(before: end) }
        return self[start..<end]
    }
}

extension String {
    /// Decodes a field value: UTF-8 if the bytes are valid UTF-8, otherwise ISO-8859-1. RFC 9110 §5.5 calls the latter
    /// the historical encoding, and every byte sequence is valid in it.
    init(fieldText bytes: Span<UInt8>) {
        if let text = String(validUTF8: bytes) {
            self = text
        } else {
            var scalars = String.UnicodeScalarView()
            for index in bytes.indices { scalars.append(UnicodeScalar(bytes[index])) }
            self = String(scalars)
        }
    }

    init(fieldText bytes: ArraySlice<UInt8>) { self.init(fieldText: bytes.span) }

    init(fieldText bytes: [UInt8]) { self.init(fieldText: bytes.span) }

    /// Decodes UTF-8; nil if the bytes are not valid. `String(validating:as:)` looks up types at run time, which takes
    /// several times as long for a short text.
    init?(validUTF8 bytes: Span<UInt8>) {
        guard let text = try? UTF8Span(validating: bytes) else { return nil }
        self.init(copying: text)
    }
}
