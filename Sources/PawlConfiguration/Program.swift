/// What the program calls itself.
public enum Program {
    /// The version: the only place where it is written, besides the documents that a test compares with it.
    public static let version = "0.1.0"

    /// The value of `User-Agent` in requests to origins, search sources and other services.
    public static let userAgent = "pawl/\(version)"
}
