/// A bearer token (RFC 6750). It never describes itself, so that it cannot end up in a log.
public struct AccessToken: Sendable {
    private let bytes: [UInt8]

    /// A token of 1–4096 visible ASCII characters; `nil` for anything else, which no client could send.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard (1...4096).contains(bytes.count), bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        self.bytes = bytes
    }

    /// The value of the `Authorization` field that carries this token: for requests of our own, and nothing else.
    public var authorization: String { "Bearer " + String(decoding: bytes, as: UTF8.self) }

    /// Whether an `Authorization` field's value carries this token.
    ///
    /// The time taken depends on the length of what was sent only, not on how much of it is right.
    public func isCarried(by authorization: ArraySlice<UInt8>) -> Bool {
        // RFC 9110 §11.1: the scheme's name is compared without case.
        let scheme = "bearer ".utf8
        guard authorization.count > scheme.count else { return false }
        for (byte, expected) in zip(authorization, scheme) where byte | 0x20 != expected { return false }
        return equals(authorization.dropFirst(scheme.count).drop { $0 == UInt8(ascii: " ") })
    }

    private func equals(_ candidate: ArraySlice<UInt8>) -> Bool {
        var difference: UInt8 = candidate.count == bytes.count ? 0 : 1
        var position = 0
        for byte in candidate {
            difference |= byte ^ bytes[position]
            position += 1
            if position == bytes.count { position = 0 }
        }
        return difference == 0
    }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Never the token.
    public var description: String { "(hidden)" }
    /// Never the token.
    public var debugDescription: String { description }
    /// Never the token.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
