/// The name and version of the program.
public enum Program {
    /// The version. It is defined here only; a test compares the documents that mention it.
    public static let version = "0.1.0"

    /// The value of `User-Agent` in requests to origins, search sources and other services.
    public static let userAgent = "pawl/\(version)"
}
