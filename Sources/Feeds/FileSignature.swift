/// The kinds of files that are no feeds, by their first bytes.
enum FileSignature {
    /// Returns a phrase with the media type of a file, such as "a picture (image/png)"; `nil` if the bytes show none.
    static func phrase(_ bytes: [UInt8]) -> String? {
        signatures.first { bytes.dropFirst($0.offset).starts(with: $0.bytes) }.map { phrase(ofType: $0.type) }
    }

    /// Returns a phrase with a media type.
    static func phrase(ofType type: String) -> String {
        let kind =
            switch type.prefix(while: { $0 != "/" }) {
            case "image": "a picture"
            case "audio": type.hasSuffix("mpegurl") ? "a playlist" : "a file with sound"
            case "video": "a video"
            default: type == "application/pdf" ? "a PDF document" : "a file"
            }
        return "\(kind) (\(type))"
    }

    private static let signatures: [(offset: Int, bytes: [UInt8], type: String)] = [
        (0, [0x89, 0x50, 0x4E, 0x47], "image/png"), (0, [0xFF, 0xD8, 0xFF], "image/jpeg"), (0, Array("GIF8".utf8), "image/gif"),
        (8, Array("WEBP".utf8), "image/webp"), (4, Array("ftypavif".utf8), "image/avif"), (0, [0, 0, 1, 0], "image/x-icon"),
        (0, Array("ID3".utf8), "audio/mpeg"), (0, [0xFF, 0xFB], "audio/mpeg"), (0, [0xFF, 0xF3], "audio/mpeg"),
        (0, [0xFF, 0xF2], "audio/mpeg"), (0, [0xFF, 0xFA], "audio/mpeg"), (0, [0xFF, 0xF1], "audio/aac"),
        (0, [0xFF, 0xF9], "audio/aac"), (0, Array("OggS".utf8), "audio/ogg"), (0, Array("fLaC".utf8), "audio/flac"),
        (8, Array("WAVEfmt".utf8), "audio/wav"), (4, Array("ftypM4A".utf8), "audio/mp4"), (4, Array("ftyp".utf8), "video/mp4"),
        (0, [0x1A, 0x45, 0xDF, 0xA3], "video/x-matroska"), (0, Array("#EXTM3U".utf8), "audio/x-mpegurl"),
        (0, Array("%PDF-".utf8), "application/pdf"), (0, [0x50, 0x4B, 3, 4], "application/zip"),
        (0, [0x1F, 0x8B], "application/gzip"),
    ]
}

extension Feed.Refusal {
    /// Returns the reason with the media type of the response, if the document alone does not show what it is.
    /// - Parameter type: The media type without parameters; `nil` if the response has none.
    public func finding(ofType type: String?) -> String {
        guard finding == Self.unknown.finding, let type, !["text", "multipart"].contains(type.prefix { $0 != "/" }),
            !["xml", "json", "octet-stream"].contains(where: type.hasSuffix)
        else { return finding }
        return FileSignature.phrase(ofType: type)
    }

    static let unknown = Self(finding: "text that is neither a feed nor a page")
}
