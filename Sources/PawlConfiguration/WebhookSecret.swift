internal import HTTPCore
internal import System

/// A secret that signs messages to webhooks, as Standard Webhooks 1.0.0 has it: `whsec_` and the base64 of its bytes.
public struct WebhookSecret: Sendable, Equatable {
    private let key: [UInt8]

    /// The accepted text, as the end of "takes …".
    public static let accepted =
        "whsec_ and the base64 of 24 to 64 bytes; during a rotation, up to 8 of these with commas between them"

    /// The maximum number of secrets that sign a message.
    private static let limit = 8

    /// Parses a secret.
    public init?(_ text: String) {
        let prefix = "whsec_"
        guard text.hasPrefix(prefix) else { return nil }
        let digits = text.utf8.dropFirst(prefix.utf8.count)
        // The decoder accepts any padding, and digits that are cut off.
        guard let key = Base64.decode(digits), (24...64).contains(key.count), Base64.encode(key).utf8.elementsEqual(digits)
        else { return nil }
        self.key = key
    }

    /// Parses secrets with commas between them; `nil` if there is none, or one is malformed.
    public static func list(_ text: String) -> [WebhookSecret]? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let secrets = parts.compactMap { WebhookSecret(String($0.drop { $0 == " " })) }
        return secrets.count == parts.count && secrets.count <= limit ? secrets : nil
    }

    /// Returns the signature of a message: `v1,` and the base64 of the HMAC-SHA256 of id, time and body, with dots
    /// between them.
    /// - Parameter seconds: The time of the attempt in seconds since 1970.
    public func signature(id: String, seconds: Int64, body: [UInt8]) -> String {
        "v1," + Base64.encode(HMAC.sha256(key: key, Array("\(id).\(seconds).".utf8) + body))
    }
}
