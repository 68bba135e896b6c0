/// The limits of the parts of a request. A request that exceeds one is refused. Numbers are in bytes unless stated
/// otherwise.
public struct ParserLimits: Sendable, Hashable {
    /// The request line, fields and line ends together, 80 KiB. That suffices for a target and several large cookies.
    /// It bounds the memory that a connection can occupy before its request is known.
    public var head = 80 * 1024
    /// The number of field lines in one section, 100. Browsers send about 20, proxies add a few.
    public var fields = 100
    /// The request target, 8 KiB. RFC 9112 §3 recommends at least 8,000 bytes.
    public var target = 8 * 1024
    /// The method, 32 bytes. The longest registered method (UPDATEREDIRECTREF) has 17.
    public var method = 32
    /// The number of empty lines before a request line, 2. RFC 9112 §2.2 recommends to accept at least one, since old
    /// clients end a body with it.
    public var emptyLines = 2
    /// The line of one chunk with size and extensions, 1 KiB. Clients rarely send extensions, but they are legal.
    public var chunkLine = 1024
    /// All chunk extensions of one body, 16 KiB. This keeps a body of one-byte chunks from being an endless stream of
    /// extensions.
    public var chunkExtensions = 16 * 1024
    /// The trailer section, 16 KiB. Trailers are checked and dropped.
    public var trailers = 16 * 1024

    /// Creates limits with the documented values.
    public init() {}
}
