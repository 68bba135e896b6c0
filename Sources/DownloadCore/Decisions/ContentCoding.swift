/// The content codings that change a file's bytes: RFC 9110 §8.4.1, RFC 7932 and RFC 8878.
enum ContentCoding: String, Sendable {
    case gzip, compress, deflate, br, zstd

    /// Creates a coding from its name in any case.
    ///
    /// `nil` for `identity`, and for names that say nothing about the bytes, such as
    /// `aws-chunked`, `binary` or `UTF-8`.
    private init?(token: String) {
        switch token.lowercased() {
        case "x-gzip": self = .gzip
        case "x-compress": self = .compress
        case let name: self.init(rawValue: name)
        }
    }

    /// Returns the codings in a Content-Encoding value, in order. Unknown tokens are left out.
    static func all(in field: String) -> [ContentCoding] {
        field.utf8.split { [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: " "), UInt8(ascii: "\t")].contains($0) }
            .compactMap { ContentCoding(token: String(decoding: $0, as: UTF8.self)) }
    }

    /// Whether the file itself is in this format, by its name or its media type.
    ///
    /// The coding then describes the file, and the bytes are the file's own. Servers send `Content-Encoding: gzip` with
    /// `a.tar.gz` in this sense.
    ///
    /// - Parameters:
    ///   - names: The names given to the file by its URL, its origin and the user.
    ///   - contentType: The value of the Content-Type field. Twisted and WebOb send the type of the name without the
    ///     coding's extension, which is text/html for an unknown one.
    ///   - isGenerated: Whether the response has the fields of no file: neither a validator nor a length.
    func isFormat(ofFileNamed names: [String], contentType: String?, isGenerated: Bool) -> Bool {
        if let contentType, isFormat(ofMediaType: PageFormat.essence(of: contentType)) { return true }
        let isPage = isGenerated && contentType.flatMap(PageFormat.init(contentType:)) == .html
        return names.contains { name in
            let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self).lowercased() }
            guard parts.count > 1, let last = parts.last, extensions.contains(last) else { return false }
            // A page that was compressed for this response, in place of an archive, is an error page.
            return !isPage || ["html", "htm", "xhtml"].contains(parts[parts.count - 2])
        }
    }

    /// Extensions of files in this format, in lowercase.
    private var extensions: Set<String> {
        switch self {
        case .gzip: ["gz", "tgz", "taz", "tz", "gzip", "svgz", "vgz", "emz", "wmz", "cpgz"]
        case .compress: ["z", "taz", "tz"]
        case .deflate: ["zz", "zlib", "deflate"]
        case .br: ["br", "tbr", "brotli"]
        case .zstd: ["zst", "tzst", "tzs", "zstd"]
        }
    }

    /// Whether a media type denotes files in this format, such as `application/gzip` or `application/x-compressed-tar`.
    private func isFormat(ofMediaType essence: String) -> Bool {
        guard let slash = essence.utf8.firstIndex(of: UInt8(ascii: "/")) else { return false }
        let subtype = String(essence[essence.utf8.index(after: slash)...])
        let suffix = subtype.utf8.split { [UInt8(ascii: "+"), UInt8(ascii: ".")].contains($0) }.last.map {
            String(decoding: $0, as: UTF8.self)
        }
        return suffix.map(subtypes.contains) ?? false
    }

    /// Subtypes of such media types, and suffixes of other subtypes, in lowercase.
    private var subtypes: Set<String> {
        switch self {
        case .gzip:
            [
                "gzip", "x-gzip", "gz", "x-gz", "x-gunzip", "gzipped", "gzip-compressed", "x-gzip-compressed", "gzip-document",
                "x-compressed-tar", "x-tgz", "tgz", "x-tar-gz", "x-gtar-compressed", "x-tar-gzip", "x-compressed",
                "svg-compressed", "xml-compressed", "x-cpio-compressed",
            ]
        case .compress: ["x-compress", "compress", "x-compressed", "x-tarz", "x-z"]
        case .deflate: ["zlib", "x-zlib", "deflate", "x-deflate"]
        case .br: ["x-brotli", "brotli", "br", "x-br"]
        case .zstd: ["zstd", "x-zstd", "x-zst", "x-zstd-compressed-tar", "zst"]
        }
    }
}
