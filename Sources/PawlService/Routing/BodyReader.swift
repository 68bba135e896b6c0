internal import HTTPCore
internal import HTTPServer
internal import JSON

/// Reads the bodies of requests.
enum BodyReader {
    /// The contents of a body.
    enum Kind: Sendable {
        case json
        case opml

        /// The accepted media types.
        var accepted: String {
            switch self {
            case .json: "application/json"
            case .opml: "text/x-opml, application/xml or text/xml"
            }
        }
    }

    /// The OPML document of a request that must have one, with the charset of its media type.
    static func opml(of request: borrowing Request) throws(Problem) -> (bytes: [UInt8], charset: String?) {
        try checkMediaType(request.head.fields, .opml)
        guard !request.body.isEmpty else {
            throw Problem(.invalidRequest, "the request has no body; it takes an OPML document")
        }
        return (request.body, request.head.fields[.contentType].flatMap { MediaType(parsing: $0)?.charset })
    }

    /// The JSON value of a request that must have a body.
    static func json(of request: borrowing Request) throws(Problem) -> JSONValue {
        try checkMediaType(request.head.fields)
        guard !request.body.isEmpty else {
            throw Problem(.invalidRequest, "the request has no body; it takes a JSON object")
        }
        return try parse(request.body)
    }

    /// Refuses a body other than an empty one or an empty object.
    static func checkEmpty(_ request: borrowing Request) throws(Problem) {
        guard !request.body.isEmpty else { return }
        try checkMediaType(request.head.fields)
        try ObjectReader(try parse(request.body)).finish()
    }

    private static func parse(_ bytes: [UInt8]) throws(Problem) -> JSONValue {
        do throws(JSONError) {
            return try JSONValue(parsing: bytes)
        } catch {
            throw Problem(error)
        }
    }

    /// Accepts only `application/json` and `application/…+json`, or the types of OPML: a web page's form can send none of
    /// them without a CORS preflight.
    static func checkMediaType(_ fields: borrowing Fields, _ kind: Kind = .json) throws(Problem) {
        guard let text = fields[.contentType] else {
            throw Problem(.unsupportedMediaType, "the body has no Content-Type; it must be \(kind.accepted)")
        }
        // Content-Type is a singleton (RFC 9110 §8.3). Programs on the way disagree about which of several values
        // counts.
        guard fields.count(.contentType) == 1 else {
            throw Problem(.unsupportedMediaType, "the body has more than one Content-Type; send one, \(kind.accepted)")
        }
        if kind == .opml {
            guard let type = MediaType(parsing: text)?.essence, ["text/x-opml", "application/xml", "text/xml"].contains(type)
            else { throw Problem(.unsupportedMediaType, "the body is '\(text)'; it must be \(kind.accepted)") }
            return
        }
        // The usual value needs no parsing.
        if text == "application/json" { return }
        guard let type = MediaType(parsing: text), type.essence == "application/json" || isJSONSuffixed(type) else {
            throw Problem(.unsupportedMediaType, "the body is '\(text)'; it must be application/json")
        }
        if let charset = type.charset, charset.lowercased() != "utf-8" {
            throw Problem(.unsupportedMediaType, "the body's charset is '\(charset)'; JSON must be UTF-8 (RFC 8259 §8.1)")
        }
    }

    private static func isJSONSuffixed(_ type: MediaType) -> Bool {
        type.type == "application" && type.subtype.hasSuffix("+json")
    }
}
