/// The error for a query that cannot be decoded.
public struct QueryError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The faulty `name=value`, as sent.
    public let item: String

    /// The fault and the accepted form, as a sentence.
    public var description: String {
        "The query item \"\(item)\" has a bad percent escape or is not UTF-8; an escape is '%' and two hexadecimal digits."
    }
}
