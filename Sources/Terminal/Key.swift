/// A key that commands use.
public enum Key: Sendable, Equatable {
    /// A printable ASCII character.
    case character(Character)
    /// Return or Enter.
    case enter
    /// Escape alone.
    case escape
    /// Control-C.
    case interrupt
    /// The arrow keys and the keys beside them.
    case up, down, pageUp, pageDown, home, end
}

/// Decodes keys from the bytes that a terminal sends (ECMA-48 control sequences in xterm's form).
public struct KeyDecoder: Sendable {
    /// The maximum length of a sequence in bytes.
    private static let longest = 16
    private var pending: [UInt8] = []

    /// Creates a decoder without pending bytes.
    public init() {}

    /// Whether the beginning of a sequence is pending. If no byte follows soon, it was the Escape key.
    public var isWaiting: Bool { !pending.isEmpty }

    /// The keys that these bytes complete. Unknown keys are skipped.
    public mutating func decode(_ bytes: some Sequence<UInt8>) -> [Key] {
        var keys: [Key] = []
        for byte in bytes {
            pending.append(byte)
            if let first = pending.first, first != 0x1B {
                pending = []
                if let key = Self.plainKey(first) { keys.append(key) }
            } else if let key = endOfSequence() {
                pending = []
                if let key = key { keys.append(key) }
            }
        }
        return keys
    }

    /// Ends an incomplete sequence: returns Escape for a single ESC, otherwise nothing.
    public mutating func flush() -> [Key] {
        defer { pending = [] }
        return pending == [0x1B] ? [.escape] : []
    }

    private static func plainKey(_ byte: UInt8) -> Key? {
        switch byte {
        case 0x03: .interrupt
        case 0x0A, 0x0D: .enter
        case 0x20...0x7E: .character(Character(Unicode.Scalar(byte)))
        default: nil
        }
    }

    /// The key of the pending sequence, or `.some(nil)` for an unknown one; `nil` while it is incomplete.
    private func endOfSequence() -> Key?? {
        guard pending.count > 1 else { return nil }
        let introducer = pending[1]
        // ESC [ … final, and ESC O final; ESC with anything else is Alt with a key.
        guard introducer == UInt8(ascii: "[") || introducer == UInt8(ascii: "O") else { return .some(nil) }
        guard pending.count > 2, let last = pending.last else { return nil }
        guard (0x40...0x7E).contains(last) else { return pending.count >= Self.longest ? .some(nil) : nil }
        switch last {
        case UInt8(ascii: "A"): return .up
        case UInt8(ascii: "B"): return .down
        case UInt8(ascii: "H"): return .home
        case UInt8(ascii: "F"): return .end
        case UInt8(ascii: "~"):
            switch pending[2] {
            case UInt8(ascii: "1"), UInt8(ascii: "7"): return .home
            case UInt8(ascii: "4"), UInt8(ascii: "8"): return .end
            case UInt8(ascii: "5"): return .pageUp
            case UInt8(ascii: "6"): return .pageDown
            default: return .some(nil)
            }
        default: return .some(nil)
        }
    }
}
