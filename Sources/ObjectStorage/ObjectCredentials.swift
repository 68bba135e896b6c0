/// The credentials for object storage. Their description hides them.
public struct ObjectCredentials: Sendable {
    /// The id of the access key.
    let accessKeyID: String
    /// The secret access key.
    let secretAccessKey: String
    /// The token of temporary credentials; `nil` for permanent ones.
    let sessionToken: String?

    /// Creates credentials from their parts; `nil` if one of them is empty or has other characters than visible ASCII,
    /// so that it cannot be sent in a field.
    public init?(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
        for part in [accessKeyID, secretAccessKey, sessionToken ?? "-"] {
            guard !part.isEmpty, part.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        }
        // Slashes and commas separate the parts of the signed fields.
        guard !accessKeyID.contains("/"), !accessKeyID.contains(",") else { return nil }
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
    }

    /// Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, if it is set and not empty, `AWS_SESSION_TOKEN`; `nil`
    /// if they are missing or invalid.
    public init?(environment: [String: String]) {
        guard let id = environment["AWS_ACCESS_KEY_ID"], let secret = environment["AWS_SECRET_ACCESS_KEY"] else { return nil }
        let token = environment["AWS_SESSION_TOKEN"].flatMap { $0.isEmpty ? nil : $0 }
        self.init(accessKeyID: id, secretAccessKey: secret, sessionToken: token)
    }
}

extension ObjectCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A placeholder for the credentials.
    public var description: String { "credentials" }
    /// A placeholder for the credentials.
    public var debugDescription: String { description }
    /// An empty mirror, which hides the credentials.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
