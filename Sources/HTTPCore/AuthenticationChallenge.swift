/// A challenge of a `WWW-Authenticate` field: RFC 9110 §11.6.1.
public struct AuthenticationChallenge: Sendable, Equatable {
    /// The scheme in lowercase, such as `digest`.
    public let scheme: String
    /// The parameters by lowercase name, without quotes and escapes. Of repeated names the first counts.
    public private(set) var parameters: [String: String] = [:]

    /// The maximum number of challenges that are read. Servers send up to about five.
    public static let maximumCount = 16

    /// Parses the challenges of a field section, in order. Members that are malformed are skipped.
    public static func all(in fields: Fields) -> [AuthenticationChallenge] {
        var challenges: [AuthenticationChallenge] = []
        for field in fields where FieldName(field.name) == .wwwAuthenticate {
            // A parameter belongs to the scheme before it, within one field.
            var current: AuthenticationChallenge?
            for member in ListMembers(field.valueBytes) {
                var parameter = member
                if let scheme = scheme(of: member) {
                    if let current { challenges.append(current) }
                    guard challenges.count < maximumCount else { return challenges }
                    current = AuthenticationChallenge(scheme: String(fieldText: scheme.map(ASCII.lowercased)))
                    parameter = member[scheme.endIndex...]
                }
                current?.take(parameter.trimmingWhiteSpace)
            }
            if let current { challenges.append(current) }
        }
        return challenges
    }

    private init(scheme: String) {
        self.scheme = scheme
    }

    /// The scheme at the start of a list member; `nil` if the member is a parameter of the challenge before it.
    private static func scheme(of member: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let word = member.prefix { ByteSet.token.contains($0) }
        guard !word.isEmpty else { return nil }
        let rest = member[word.endIndex...].trimmingWhiteSpace
        // `name = value` is a parameter; a scheme is followed by nothing or by white space and no equals sign.
        return rest.first == ASCII.equals ? nil : word
    }

    private mutating func take(_ parameter: ArraySlice<UInt8>) {
        guard let equals = parameter.firstIndex(of: ASCII.equals) else { return }
        let name = parameter[..<equals].trimmingWhiteSpace
        guard !name.isEmpty, name.allSatisfy({ ByteSet.token.contains($0) }) else { return }
        let key = String(fieldText: name.map(ASCII.lowercased))
        guard parameters[key] == nil else { return }
        parameters[key] = String(fieldText: Self.unquoted(parameter[(equals + 1)...].trimmingWhiteSpace))
    }

    /// The value of a token or a quoted string (RFC 9110 §5.6.4). A missing closing quote is ignored.
    private static func unquoted(_ text: ArraySlice<UInt8>) -> [UInt8] {
        guard text.first == ASCII.doubleQuote else { return Array(text) }
        var value: [UInt8] = []
        var index = text.startIndex + 1
        while index < text.endIndex, text[index] != ASCII.doubleQuote {
            if text[index] == ASCII.backslash, index + 1 < text.endIndex { index += 1 }
            value.append(text[index])
            index += 1
        }
        return value
    }
}
