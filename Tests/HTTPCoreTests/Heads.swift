import Testing

@testable import HTTPCore

/// The head those bytes are, all of them.
func head(bytes: [UInt8]) throws -> RequestHead {
    var parser = RequestParser()
    let progress = parser.parse(bytes.span)
    try #require(progress == .complete(consumed: bytes.count))
    return parser.head
}

/// The head that text is, all of it.
func head(_ text: String) throws -> RequestHead {
    try head(bytes: Array(text.utf8))
}

/// Why those bytes are refused; nil if they aren't.
func failure(_ bytes: [UInt8]) -> RequestError? {
    var parser = RequestParser()
    guard case .failed(let error) = parser.parse(bytes.span) else { return nil }
    return error
}

/// Why that text is refused; nil if it isn't.
func failure(_ text: String) -> RequestError? {
    failure(Array(text.utf8))
}
