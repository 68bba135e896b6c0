public import HTTPCore

/// The identity of a download, subscription, delivery or remote message: a ULID, which is 48 bits of Unix milliseconds
/// followed by 80 random bits.
///
/// Written as 26 characters of Crockford's base 32, it is URL-safe. It sorts by creation, both as a number and as text.
/// Only the canonical spelling (upper case, no look-alikes) is accepted, so that one record has one address.
public struct RecordID: Sendable, Hashable, Comparable, LosslessStringConvertible {
    /// The identifier as a number. Identifiers that are created later have greater numbers.
    public var value: UInt128 { UInt128(high) << 64 | UInt128(low) }

    /// The number in two words.
    ///
    /// Swift 6.3 passes a number of 128 bits wrongly to asynchronous functions that have more arguments than registers.
    /// The program crashes where such a function suspends.
    private let high: UInt64
    private let low: UInt64

    /// The number of characters in the written form.
    public static let length = 26

    /// Creates an identifier from its number.
    public init(value: UInt128) {
        high = UInt64(truncatingIfNeeded: value >> 64)
        low = UInt64(truncatingIfNeeded: value)
    }

    /// Parses the canonical written form; `nil` for anything else.
    public init?(_ description: String) {
        self.init(parsing: description.utf8.span)
    }

    /// Parses the canonical written form from ASCII bytes, without allocating; `nil` for anything else.
    public init?(parsing bytes: ArraySlice<UInt8>) {
        self.init(parsing: bytes.span)
    }

    /// Parses the canonical written form from ASCII bytes, without allocating; `nil` for anything else.
    public init?(parsing bytes: Span<UInt8>) {
        guard bytes.count == Self.length else { return nil }
        var value: UInt128 = 0
        for index in bytes.indices {
            guard let digit = Self.digit(of: bytes[index]) else { return nil }
            // 26 digits have 130 bits, so the first digit must not exceed 7.
            if index == 0, digit > 7 { return nil }
            value = value << 5 | UInt128(digit)
        }
        self.init(value: value)
    }

    /// The canonical written form of 26 characters.
    public var description: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.length)
        encode(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the 26 characters of the written form.
    public func encode(into bytes: inout [UInt8]) {
        let (first, second) = (high >> 1, low)
        bytes.append(addingCapacity: Self.length) { output in
            for digit in 0..<13 {
                output.append(Self.character(of: UInt8(truncatingIfNeeded: first >> UInt64(60 - 5 * digit)) & 31))
            }
            // This digit consists of the last bit of `high` and the first four bits of `low`.
            output.append(Self.character(of: UInt8(truncatingIfNeeded: high << 4 | second >> 60) & 31))
            for digit in 1..<13 {
                output.append(Self.character(of: UInt8(truncatingIfNeeded: second >> UInt64(60 - 5 * digit)) & 31))
            }
        }
    }

    /// The time of the identifier, to the millisecond.
    ///
    /// It is later than the download's `createdAt` if the clock has been set back since an earlier identifier.
    /// Identifiers only grow.
    public var createdAt: Timestamp {
        Timestamp(millisecondsSinceEpoch: Int64(truncatingIfNeeded: high >> 16))
    }

    /// Whether the identifier was made before the year 9999. No identifier that follows it then exceeds 26 characters.
    package var isPlausible: Bool { high >> 16 < 253_370_764_800_000 }

    /// Hashes the last 64 random bits, which suffice to distinguish identifiers.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(low)
    }

    /// Whether the left identifier was created earlier.
    public static func < (left: RecordID, right: RecordID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

extension RecordID {
    /// Returns a character of Crockford's alphabet: digits, then letters without I, L, O and U.
    private static func character(of digit: UInt8) -> UInt8 {
        // No branches: in ASCII, seven characters separate digits and letters, and each omitted
        // letter shifts the rest by one.
        UInt8(ascii: "0") &+ digit &+ (digit > 9 ? 7 : 0) &+ (digit > 17 ? 1 : 0) &+ (digit > 19 ? 1 : 0)
            &+ (digit > 21 ? 1 : 0) &+ (digit > 26 ? 1 : 0)
    }

    private static func digit(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "H"): character - UInt8(ascii: "A") + 10
        case UInt8(ascii: "J"), UInt8(ascii: "K"): character - UInt8(ascii: "J") + 18
        case UInt8(ascii: "M"), UInt8(ascii: "N"): character - UInt8(ascii: "M") + 20
        case UInt8(ascii: "P")...UInt8(ascii: "T"): character - UInt8(ascii: "P") + 22
        case UInt8(ascii: "V")...UInt8(ascii: "Z"): character - UInt8(ascii: "V") + 27
        default: nil
        }
    }
}
