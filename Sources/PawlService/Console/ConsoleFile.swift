internal import HTTPCore

/// A file of the web console, or of the module for front ends, embedded in the executable.
struct ConsoleFile: Sendable {
    /// The bytes of the response body.
    let bytes: [UInt8]
    /// The value of `Content-Type`.
    let mediaType: String

    /// The page at the root, which loads the others.
    static let page = ConsoleFile(EmbeddedFile.bytes(of: "console/console.html"), "html")

    /// The API reference, generated from `openapi.yaml` by the target `reference`.
    static let reference = ConsoleFile(EmbeddedFile.bytes(of: "reference.html"), "html")

    /// The other files, by the last segment of their path.
    static let all = files(in: "console/").filter { $0.key != "console.html" }

    /// The files of the module for front ends, by the last segment of their path.
    static let client = files(in: "client/")

    /// Creates a file with the media type of the suffix of its name.
    init(_ bytes: [UInt8], _ suffix: Substring) {
        self.bytes = bytes
        mediaType =
            switch suffix {
            case "html": "text/html; charset=utf-8"
            case "css": "text/css; charset=utf-8"
            case "svg": "image/svg+xml"
            // RFC 9239 §6: text/javascript is the one media type of scripts and modules.
            case "js": "text/javascript; charset=utf-8"
            default: "text/plain; charset=utf-8"
            }
    }

    private static func files(in folder: String) -> [String: ConsoleFile] {
        var files: [String: ConsoleFile] = [:]
        for file in EmbeddedFile.all where file.path.hasPrefix(folder) {
            files[String(file.path.dropFirst(folder.count))] = ConsoleFile(
                file.bytes, file.path.split(separator: ".").last ?? "")
        }
        return files
    }

    /// The Content-Security-Policy of the console.
    ///
    /// Scripts and styles come from this service only, and cannot be created from text. Media may come from any host,
    /// since users play previews of search results. Requests go to this service only.
    /// - Parameter sources: The base URLs of the catalogues. Pictures are loaded without a click, so they may only come
    ///   from these, from Apple's picture hosts and from the Internet Archive. Otherwise a download's track could make
    ///   the browser send requests to machines of its network.
    static func contentSecurityPolicy(sources: [HTTPURL]) -> String {
        // A policy cannot contain an IPv6 address (CSP3, host-source).
        let origins = sources.filter { !$0.host.contains(":") }.map { "\($0.scheme)://\($0.authority)" }
        let pictures = (["https://*.mzstatic.com", "https://*.archive.org"] + origins).joined(separator: " ")
        return """
            default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
            img-src 'self' \(pictures); media-src 'self' http: https:; \
            base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
            require-trusted-types-for 'script'; trusted-types 'none'
            """
    }

    /// The policy of a standalone document: it may load and run nothing; only its own inline style applies.
    static let documentSecurityPolicy =
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}
