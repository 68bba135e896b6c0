/// Who signs requests to object storage. Printing one shows nothing of it.
public struct ObjectCredentials: Sendable {
    /// The name of the key.
    let accessKeyID: String
    /// The key.
    let secretAccessKey: String
    /// What comes with keys that are lent for a time.
    let sessionToken: String?

    /// Credentials from their parts; nil if one cannot be sent in a field: it is empty, or has spaces or other characters than visible ASCII.
    public init?(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
        for part in [accessKeyID, secretAccessKey, sessionToken ?? "-"] {
            guard !part.isEmpty, part.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        }
        // The name stands between slashes in what is signed.
        guard !accessKeyID.contains("/"), !accessKeyID.contains(",") else { return nil }
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
    }

    /// Those of `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, if it is set and not empty, `AWS_SESSION_TOKEN`; nil if they are missing
    /// or cannot be used.
    public init?(environment: [String: String]) {
        guard let id = environment["AWS_ACCESS_KEY_ID"], let secret = environment["AWS_SECRET_ACCESS_KEY"] else { return nil }
        let token = environment["AWS_SESSION_TOKEN"].flatMap { $0.isEmpty ? nil : $0 }
        self.init(accessKeyID: id, secretAccessKey: secret, sessionToken: token)
    }
}

extension ObjectCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says that there are some.
    public var description: String { "credentials" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
