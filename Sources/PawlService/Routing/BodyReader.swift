internal import HTTPCore
internal import HTTPServer
internal import JSON

/// Reads the bodies of requests.
enum BodyReader {
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

    /// Accepts only `application/json` and `application/…+json`: a web page's form can send neither without a CORS
    /// preflight.
    static func checkMediaType(_ fields: borrowing Fields) throws(Problem) {
        guard let text = fields[.contentType] else {
            throw Problem(.unsupportedMediaType, "the body has no Content-Type; it must be application/json")
        }
        // Content-Type is a singleton (RFC 9110 §8.3). Programs on the way disagree about which of several values
        // counts.
        guard fields.count(.contentType) == 1 else {
            throw Problem(.unsupportedMediaType, "the body has more than one Content-Type; send one, application/json")
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
