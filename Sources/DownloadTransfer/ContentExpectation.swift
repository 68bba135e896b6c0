package import DownloadCore
internal import JSON

/// Distinguishes a login or error page from the file, by what is known of the file before the response. Pure.
///
/// Origins often answer an expired link with status 200 and a page. As a new version of the file, the page would
/// replace the present bytes, and be completed under the file's name.
package struct ContentExpectation: Sendable {
    /// The media type of an earlier response; `nil` if there was no response, or no type in it.
    package var mediaType: String?
    /// The catalogue's description of the file, a JSON object.
    package var track: [UInt8]?
    /// The name of the file, if bytes of it are present.
    package var filename: String?

    package init(mediaType: String? = nil, track: [UInt8]? = nil, filename: String? = nil) {
        self.mediaType = mediaType
        self.track = track
        self.filename = filename
    }

    /// Returns the failure of a response with a page in place of the file; `nil` for any other response.
    ///
    /// A partial response of any type has to prove that its bytes belong to the file.
    /// - Parameter beginning: The first bytes of the body, which show whether it may be a page; `nil` if they are unknown.
    package func failure(for response: OriginResponse, beginning: [UInt8]? = nil) -> DownloadFailure? {
        let response = response.asWhole ?? response
        guard [200, 203].contains(response.status), let contentType = response.contentType else { return nil }
        let page = PageFormat(contentType: contentType)
        // Some pages are sent as plain text. A first response may be, from a server that does not know the file's type.
        let isText = PageFormat.essence(of: contentType).hasPrefix("text/")
        let expected: String
        if let mediaType {
            guard page.map({ PageFormat(contentType: mediaType) != $0 }) ?? (isText && Self.isMedia(mediaType)) else {
                return nil
            }
            expected = mediaType
        } else if page != nil, isAudioOrVideo {
            expected = "audio or video"
        } else {
            return nil
        }
        if let beginning, !Self.mayBePage(beginning, hasFormat: page != nil) { return nil }
        return DownloadFailure(
            .mediaTypeMismatch,
            "the origin sent \(PageFormat.essence(of: contentType)) in place of the file, which is \(expected): probably a login or "
                + "error page; set another url, or resume once the link works again",
            httpStatus: response.status)
    }

    /// Whether a body with these first bytes may be a page. A page of a known format begins with markup or an object, and
    /// no text has a NUL. Many servers announce media files of types that they do not know as HTML or text.
    private static func mayBePage(_ beginning: [UInt8], hasFormat: Bool) -> Bool {
        guard !beginning.contains(0) else { return false }
        let first = beginning.first { $0 > 0x20 && ![0xEF, 0xBB, 0xBF].contains($0) }
        return !hasFormat || first.map { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "{") } ?? true
    }

    private static func isMedia(_ mediaType: String) -> Bool {
        ["audio/", "video/", "image/"].contains { PageFormat.essence(of: mediaType).hasPrefix($0) }
    }

    /// Whether the file is audio or video, by its name, or by the catalogue's kind, name or URL.
    private var isAudioOrVideo: Bool {
        if let filename, Self.isAudioOrVideo(filename) { return true }
        guard let track = track.flatMap({ try? JSONValue(parsing: $0) }) else { return false }
        let kinds = [track["kind"], track["wrapperType"]].compactMap { $0?.string }
        if kinds.contains(where: Self.kinds.contains) { return true }
        return [track["name"], track["downloadUrl"]].compactMap { $0?.string }.contains(where: Self.isAudioOrVideo)
    }

    /// Whether a name or a URL has an extension of audio or video.
    private static func isAudioOrVideo(_ text: String) -> Bool {
        let name = text.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return false }
        return extensions.contains(String(decoding: name[name.index(after: dot)...], as: UTF8.self).lowercased())
    }

    /// Kinds of items whose files are audio or video, as catalogues spell them.
    private static let kinds: Set<String> = [
        "song", "music-video", "podcast-episode", "audiobook", "feature-movie", "tv-episode", "movie", "video", "audio",
    ]

    private static let extensions: Set<String> = [
        "aac", "ac3", "aif", "aiff", "alac", "amr", "ape", "au", "dsf", "flac", "m4a", "m4b", "mid", "mp2", "mp3", "mpc", "oga",
        "ogg",
        "opus", "ra", "shn", "snd", "wav", "wma", "wv", "3gp", "avi", "divx", "flv", "m2ts", "m4v", "mkv", "mov", "mp4", "mpeg",
        "mpg",
        "mts", "ogv", "rm", "rmvb", "ts", "vob", "webm", "wmv",
    ]
}
