/// The value of Content-Type: RFC 9110 §8.3.
public struct MediaType: Sendable, Hashable {
    /// The type before the slash, in lowercase: `audio`.
    public let type: String
    /// The subtype after the slash, in lowercase: `mp4`.
    public let subtype: String
    /// The parameters in order. Of a repeated name, only the first counts.
    public let parameters: [Parameter]

    /// One parameter of a media type.
    public struct Parameter: Sendable, Hashable {
        /// The name in lowercase.
        public let name: String
        /// The value without quotes. It may be case-sensitive.
        public let value: String
    }

    /// Parses a value; nil unless it begins with two tokens and a slash. The parameters are parsed as tolerantly as in
    /// browsers.
    public init?(parsing text: String) {
        let bytes = Array(text.utf8)[...]
        let essenceEnd = bytes.firstIndex(of: ASCII.semicolon) ?? bytes.endIndex
        let essence = bytes[..<essenceEnd].trimmingWhiteSpace
        guard let slash = essence.firstIndex(of: ASCII.slash),
            let type = MediaType.token(essence[..<slash]), let subtype = MediaType.token(essence[(slash + 1)...])
        else { return nil }
        self.type = type
        self.subtype = subtype
        var parameters: [Parameter] = []
        for (name, value) in Parameters(bytes[essenceEnd...].dropFirst()) where !parameters.contains(where: { $0.name == name }) {
            parameters.append(Parameter(name: name, value: String(fieldText: value)))
        }
        self.parameters = parameters
    }

    /// The type and subtype, in lowercase: `audio/mp4`.
    public var essence: String { "\(type)/\(subtype)" }

    /// The value of a parameter, whose name must be in lowercase; nil if there is none.
    public func parameter(_ name: String) -> String? {
        parameters.first { $0.name == name }?.value
    }

    /// The `charset` parameter in lowercase; nil if there is none.
    public var charset: String? {
        parameter("charset")?.asciiLowercased
    }

    /// Whether a pattern covers this type: `audio/mp4`, `audio/*` or `*/*`. Parameters are ignored. An invalid pattern
    /// covers nothing.
    public func matches(pattern: String) -> Bool {
        guard let pattern = MediaType(parsing: pattern) else { return false }
        if pattern.type == "*" { return pattern.subtype == "*" }
        return pattern.type == type && (pattern.subtype == "*" || pattern.subtype == subtype)
    }

    private static func token(_ bytes: ArraySlice<UInt8>) -> String? {
        guard !bytes.isEmpty, bytes.allSatisfy({ ByteSet.token.contains($0) }) else { return nil }
        return String(decoding: bytes.map(ASCII.lowercased), as: UTF8.self)
    }
}

extension MediaType: CustomStringConvertible {
    /// The value in a field, with quotes where they are required: `text/plain; charset=utf-8`.
    public var description: String {
        var text = essence
        for parameter in parameters {
            let isToken = !parameter.value.isEmpty && parameter.value.utf8.allSatisfy { ByteSet.token.contains($0) }
            text += "; \(parameter.name)=" + (isToken ? parameter.value : QuotedString.encode(parameter.value))
        }
        return text
    }
}
