import Testing

@testable import HTTPCore

/// The head in these bytes, which must be complete.
func head(bytes: [UInt8]) throws -> RequestHead {
    var parser = RequestParser()
    let progress = parser.parse(bytes.span)
    try #require(progress == .complete(consumed: bytes.count))
    return parser.head
}

/// The head in this text, which must be complete.
func head(_ text: String) throws -> RequestHead {
    try head(bytes: Array(text.utf8))
}

/// The refusal of these bytes; nil if they are accepted.
func failure(_ bytes: [UInt8]) -> RequestError? {
    var parser = RequestParser()
    guard case .failed(let error) = parser.parse(bytes.span) else { return nil }
    return error
}

/// The refusal of this text; nil if it is accepted.
func failure(_ text: String) -> RequestError? {
    failure(Array(text.utf8))
}
