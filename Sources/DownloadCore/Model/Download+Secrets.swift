internal import HTTPCore
internal import JSON

/// Removes the queries of URLs, which often are signatures, from all texts of a download.
extension Download {
    /// The download without these queries, for clients whose scope is not `full`. It keeps its version.
    public var withoutSecrets: Download {
        var shown = self
        shown.url = HTTPURL.withoutSecrets(in: url)
        if let track {
            shown.track = (try? JSONValue(parsing: track)).map { Self.withoutSecrets($0).serialized() }
        }
        if let error { shown.error?.message = HTTPURL.withoutSecrets(in: error.message) }
        return shown
    }

    /// The texts that the download is found by, without these queries.
    package var openTexts: [String?] {
        [HTTPURL.withoutSecrets(in: url), filename, trackName.map { HTTPURL.withoutSecrets(in: $0) }]
    }

    private static func withoutSecrets(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text): .string(HTTPURL.withoutSecrets(in: text))
        case .array(let elements): .array(elements.map(withoutSecrets))
        case .object(let members):
            .object(members.map { JSONMember(name: HTTPURL.withoutSecrets(in: $0.name), value: withoutSecrets($0.value)) })
        case .null, .bool, .integer, .number: value
        }
    }
}
