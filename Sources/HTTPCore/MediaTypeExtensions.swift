/// Extensions of file names for media types of audio, video and books.
public enum MediaTypeExtensions {
    private static let table: [String: String] = [
        "audio/mpeg": ".mp3", "audio/mp3": ".mp3", "audio/x-mp3": ".mp3", "audio/mpeg3": ".mp3", "audio/x-mpeg-3": ".mp3",
        "audio/mpg": ".mp3", "audio/x-mpeg": ".mp3",
        "audio/mp4": ".m4a", "audio/x-m4a": ".m4a", "audio/m4a": ".m4a", "audio/x-m4b": ".m4b", "audio/mp4a-latm": ".m4a",
        "audio/aac": ".aac", "audio/aacp": ".aac", "audio/x-aac": ".aac",
        "audio/ogg": ".ogg", "audio/vorbis": ".ogg", "application/ogg": ".ogg", "audio/opus": ".opus",
        "audio/flac": ".flac", "audio/x-flac": ".flac",
        "audio/wav": ".wav", "audio/x-wav": ".wav", "audio/wave": ".wav", "audio/vnd.wave": ".wav",
        "audio/aiff": ".aiff", "audio/x-aiff": ".aiff", "audio/x-ms-wma": ".wma", "audio/webm": ".webm",
        "audio/x-matroska": ".mka",
        "audio/3gpp": ".3gp", "audio/amr": ".amr",
        "video/mp4": ".mp4", "video/x-m4v": ".m4v", "video/m4v": ".m4v", "video/quicktime": ".mov", "video/mpeg": ".mpg",
        "video/webm": ".webm", "video/x-matroska": ".mkv", "video/ogg": ".ogv", "video/x-msvideo": ".avi",
        "video/x-ms-wmv": ".wmv",
        "video/x-flv": ".flv", "video/3gpp": ".3gp", "video/mp2t": ".ts",
        "application/pdf": ".pdf", "application/epub+zip": ".epub",
    ]

    /// Returns the extension, dot included, of files of a media type.
    /// - Parameter mediaType: The type and subtype in lowercase, without parameters.
    /// - Returns: The extension; `nil` for a type that does not determine the format, and for other
    ///   types outside the table.
    public static func name(for mediaType: String) -> String? { table[mediaType] }

    private static let extensions: Set<String> = Set(table.values).union([
        ".aif", ".avi", ".m4b", ".mp2", ".mpeg", ".oga", ".ogm", ".wv", ".mobi", ".txt", ".zip",
    ])

    /// Returns whether an extension, dot included and in any case, is one of audio, video or books.
    public static func contains(_ name: some StringProtocol) -> Bool {
        name.utf8.count <= 6 && extensions.contains(name.lowercased())
    }
}
