/// How much of each part of a request is read before it is refused. Every number is in bytes unless it says otherwise.
public struct ParserLimits: Sendable, Hashable {
    /// Request-line, fields and line ends together, 80 KiB: room for a target and several large cookies, and the most a
    /// connection makes the server buffer before anything is known about it.
    public var head = 80 * 1024
    /// Field lines in one section, 100: browsers send about 20, proxies add a few.
    public var fields = 100
    /// The request-target, 8 KiB: RFC 9112 §3 recommends at least 8,000.
    public var target = 8 * 1024
    /// The method, 32: the longest registered one (UPDATEREDIRECTREF) has 17.
    public var method = 32
    /// Empty lines before a request-line, 2: RFC 9112 §2.2 asks for tolerance of at least one, for clients of old that end
    /// a body with one.
    public var emptyLines = 2
    /// One chunk's line, size and extensions, 1 KiB: nobody sends extensions, but they are legal.
    public var chunkLine = 1024
    /// Chunk extensions of one body together, 16 KiB, so that a body of one-byte chunks can't be an endless stream of them.
    public var chunkExtensions = 16 * 1024
    /// The trailer section, 16 KiB. Trailers are checked and dropped.
    public var trailers = 16 * 1024

    /// The documented values.
    public init() {}
}
