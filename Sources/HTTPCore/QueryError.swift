/// A query that can't be decoded.
public struct QueryError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The `name=value` that is wrong, as sent.
    public let item: String

    /// What is wrong and what is accepted, as a sentence.
    public var description: String {
        "The query item \"\(item)\" has a bad percent escape or is not UTF-8; an escape is '%' and two hexadecimal digits."
    }
}
