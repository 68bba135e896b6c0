internal import HTTPCore

/// A file of the web console, or of the module for front ends, embedded in the executable.
struct ConsoleFile: Sendable {
    /// The bytes of the response body.
    let bytes: [UInt8]
    /// The value of `Content-Type`.
    let mediaType: String

    /// The page at the root, which loads the others.
    static let page = ConsoleFile(bytes: PackageResources.console_html, mediaType: "text/html; charset=utf-8")

    /// The API reference, generated from `openapi.yaml` by the target `reference`.
    static let reference = ConsoleFile(bytes: PackageResources.reference_html, mediaType: "text/html; charset=utf-8")

    /// The other files, by the last segment of their path.
    static let all: [String: ConsoleFile] = [
        "console.css": ConsoleFile(bytes: PackageResources.console_css, mediaType: "text/css; charset=utf-8"),
        "icon.svg": ConsoleFile(bytes: PackageResources.icon_svg, mediaType: "image/svg+xml"),
        "actions.js": script(PackageResources.actions_js),
        "console.js": script(PackageResources.console_js),
        "dialogs.js": script(PackageResources.dialogs_js),
        "dom.js": script(PackageResources.dom_js),
        "downloads.js": script(PackageResources.downloads_js),
        "format.js": script(PackageResources.format_js),
        "items.js": script(PackageResources.items_js),
        "list.js": script(PackageResources.list_js),
        "live.js": script(PackageResources.live_js),
        "search.js": script(PackageResources.search_js),
        "start.js": script(PackageResources.start_js),
        "subscriptions.js": script(PackageResources.subscriptions_js),
    ]

    /// The files of the module for front ends, by the last segment of their path. `Clients/JavaScript` has the same.
    static let client: [String: ConsoleFile] = [
        "pawl.js": script(PackageResources.pawl_js), "element.js": script(PackageResources.element_js),
        "pawl.d.ts": ConsoleFile(bytes: PackageResources.pawl_d_ts, mediaType: "text/plain; charset=utf-8"),
        "element.d.ts": ConsoleFile(bytes: PackageResources.element_d_ts, mediaType: "text/plain; charset=utf-8"),
    ]

    private static func script(_ bytes: [UInt8]) -> ConsoleFile {
        // RFC 9239 §6: text/javascript is the one media type of scripts and modules.
        ConsoleFile(bytes: bytes, mediaType: "text/javascript; charset=utf-8")
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
