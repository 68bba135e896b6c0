/// What the program calls itself.
public enum Program {
    /// The version: the only place where it is written, besides the documents that a test compares with it.
    public static let version = "0.1.0"

    /// Where people read about the program, and find whom to tell about requests of it.
    public static let homepage = "https://pawl.example/"

    /// The value of `User-Agent` in requests to origins, search sources and other services. The Internet Archive, among others, asks
    /// for an address in it.
    public static let userAgent = "pawl/\(version) (+\(homepage))"
}
