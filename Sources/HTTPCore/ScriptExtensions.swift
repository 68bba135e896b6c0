/// The extensions of programs that a web server runs to make a response: in a URL they name the program, and not the file it sends.
public enum ScriptExtensions {
    private static let all: Set<String> = [
        "php", "php3", "php4", "php5", "php7", "php8", "phtml", "asp", "aspx", "ashx", "asmx", "jsp", "jspx", "jspa", "cgi",
        "fcgi",
        "do", "action", "cfm",
    ]

    /// Whether an extension, without its dot, is one of them, whatever its case.
    public static func contains(_ name: some StringProtocol) -> Bool {
        name.utf8.count <= 6 && all.contains(name.lowercased())
    }
}
