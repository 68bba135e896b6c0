/// The extensions of programs that web servers run. In a URL, such an extension belongs to the program, not to the file
/// that it sends.
public enum ScriptExtensions {
    private static let all: Set<String> = [
        "php", "php3", "php4", "php5", "php7", "php8", "phtml", "asp", "aspx", "ashx", "asmx", "jsp", "jspx", "jspa", "cgi",
        "fcgi",
        "do", "action", "cfm",
    ]

    /// Whether an extension, without its dot and in any case, is one of them.
    public static func contains(_ name: some StringProtocol) -> Bool {
        name.utf8.count <= 6 && all.contains(name.lowercased())
    }
}
