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

        func accepts(_ type: MediaType) -> Bool {
            switch self {
            case .json: type.type == "application" && (type.subtype == "json" || type.subtype.hasSuffix("+json"))
            case .opml: ["text/x-opml", "application/xml", "text/xml"].contains(type.essence)
            }
        }
    }

    /// The OPML document of a request that must have one, with the charset of its media type.
    static func opml(of request: borrowing Request) throws(Problem) -> (bytes: [UInt8], charset: String?) {
        let type = try mediaType(of: request.head.fields, .opml)
        guard !request.body.isEmpty else {
            throw Problem(.invalidRequest, "the request has no body; it takes an OPML document")
        }
        return (request.body, type?.charset)
    }

    /// The JSON value of a request that must have a body.
    static func json(of request: borrowing Request) throws(Problem) -> JSONValue {
        try mediaType(of: request.head.fields)
        guard !request.body.isEmpty else {
            throw Problem(.invalidRequest, "the request has no body; it takes a JSON object")
        }
        return try parse(request.body)
    }

    /// Refuses a body other than an empty one or an empty object.
    static func checkEmpty(_ request: borrowing Request) throws(Problem) {
        guard !request.body.isEmpty else { return }
        try mediaType(of: request.head.fields)
        try ObjectReader(try parse(request.body)).finish()
    }

    private static func parse(_ bytes: [UInt8]) throws(Problem) -> JSONValue {
        do throws(JSONError) {
            return try JSONValue(parsing: bytes)
        } catch {
            throw Problem(.invalidRequest, "the body is not valid JSON: \(error)")
        }
    }

    /// Finds the accepted media type among the Content-Type fields of a body. Some libraries and proxies add a field.
    ///
    /// Only `application/json` and `application/…+json`, or the types of OPML, are accepted: a web page's form can send none
    /// of them without a CORS preflight. A page can send a body without a type, or with a list of types in one field. These are
    /// accepted from programs only: browsers send `Origin` with each change.
    /// - Returns: The type; `nil` for exactly `application/json`, and for a program's body without a type.
    @discardableResult
    static func mediaType(of fields: borrowing Fields, _ kind: Kind = .json) throws(Problem) -> MediaType? {
        var texts = fields.values(.contentType)
        // The usual value needs no parsing.
        if kind == .json, texts == ["application/json"] { return nil }
        if !fields.contains(.origin), !fields.contains(.secFetchSite) {
            texts = texts.flatMap { $0.split(separator: ",").map(String.init) }
            if texts.isEmpty { return nil }
        }
        let types = texts.compactMap { MediaType(parsing: $0) }.filter(kind.accepts)
        guard let type = types.first(where: { $0.charset.map(namesOfUTF8.contains) ?? true }) ?? types.first else {
            let sent = texts.first.map { "is '\($0)'" } ?? "has no Content-Type"
            throw Problem(.unsupportedMediaType, "the body \(sent); it must be \(kind.accepted)")
        }
        if kind == .json, let charset = type.charset, !namesOfUTF8.contains(charset) {
            throw Problem(.unsupportedMediaType, "the body's charset is '\(charset)'; JSON must be UTF-8 (RFC 8259 §8.1)")
        }
        return type
    }

    /// Names of UTF-8 and of a part of it, in lowercase.
    private static let namesOfUTF8: Set = ["utf-8", "utf8", "us-ascii", "ascii"]

    /// Refuses a compressed body. Some programs send a charset in this field, which changes no bytes.
    static func checkCoding(_ fields: borrowing Fields) throws(Problem) {
        guard let coding = fields.combined(.contentEncoding), !coding.isEmpty else { return }
        let names = coding.lowercased().split { $0 == "," || $0 == " " }.map(String.init)
        guard names.contains(where: { $0 != "identity" && !namesOfUTF8.contains($0) }) else { return }
        throw Problem(
            .unsupportedMediaType, "the body's Content-Encoding is '\(coding)'; send the body without a coding",
            fields: Fields(.acceptEncoding, "identity"))
    }
}
