internal import DownloadCore
internal import System

/// The secret in the address of a subscription's feed, which opens that feed and its files. Its descriptions hide it.
public struct FeedKey: Sendable, Equatable {
    /// The 32 hexadecimal digits.
    public let text: String

    /// Creates a random key of 128 bits.
    public init() {
        var random = SystemRandom()
        text = Hexadecimal.encode((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }

    init?(_ text: String) {
        guard text.utf8.count == 32, Hexadecimal.decode(text.utf8) != nil else { return nil }
        self.text = text
    }

    /// Whether a text is the key. The time taken does not depend on the position of a difference.
    public func isExactly(_ sent: String) -> Bool {
        guard sent.utf8.count == text.utf8.count else { return false }
        return zip(sent.utf8, text.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension FeedKey: CustomStringConvertible, CustomReflectable {
    /// A placeholder for the key.
    public var description: String { "(hidden)" }
    /// An empty mirror, which hides the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
