internal import HTTPCore
internal import PawlConfiguration

/// The endpoints: one case for each path of the contract.
enum Endpoint: String, Sendable, CaseIterable {
    case startPage = "/"
    case consoleFile = "/console/{name}"
    case health = "/healthz"
    case readiness = "/readyz"
    case statistics = "/stats"
    case settings = "/settings"
    case metrics = "/metrics"
    case tickets = "/tickets"
    case document = "/openapi.yaml"
    case reference = "/docs"
    case problem = "/problems/{code}"
    case search = "/search"
    case searchSources = "/search/sources"
    case searchLookup = "/search/lookup"
    case searchParts = "/search/parts"
    case downloads = "/downloads"
    case batch = "/downloads/batch"
    case pauseAll = "/downloads/pause"
    case resumeAll = "/downloads/resume"
    case cancelAll = "/downloads/cancel"
    case allEvents = "/downloads/events"
    case download = "/downloads/{id}"
    case pause = "/downloads/{id}/pause"
    case resume = "/downloads/{id}/resume"
    case cancel = "/downloads/{id}/cancel"
    case retry = "/downloads/{id}/retry"
    case file = "/downloads/{id}/file"
    case events = "/downloads/{id}/events"

    /// The path, with `{id}`, `{name}` or `{code}` for the variable segment, as in `openapi.yaml`.
    var path: String { rawValue }

    /// The allowed methods, besides HEAD (wherever GET is allowed) and OPTIONS.
    var methods: [HTTPMethod] {
        switch self {
        case .startPage, .consoleFile, .health, .readiness, .statistics, .metrics, .document, .reference, .search, .searchSources,
            .searchLookup, .searchParts,
            .allEvents, .file,
            .events:
            [.get]
        case .problem: [.get]
        case .downloads: [.get, .post, .delete]
        case .settings: [.get, .patch]
        case .download: [.get, .patch, .delete]
        case .tickets, .batch, .pauseAll, .resumeAll, .cancelAll, .pause, .resume, .cancel, .retry: [.post]
        }
    }

    /// The value of `Allow` (RFC 9110 §10.2.1).
    var allow: String {
        var names: [String] = []
        for method in methods {
            names.append(method.name)
            if method == .get { names.append("HEAD") }
        }
        return (names + ["OPTIONS"]).joined(separator: ", ")
    }

    /// Whether a method takes query parameters. Handlers of other methods do not read the query.
    func takesQuery(_ method: HTTPMethod) -> Bool {
        switch self {
        case .search, .searchLookup, .searchParts, .pauseAll, .resumeAll, .cancelAll, .allEvents, .file, .events: true
        case .downloads: method != .post
        case .download: method != .patch
        default: false
        }
    }

    /// Whether a ticket in the query authenticates a request: for `EventSource`, media elements and links.
    var takesTicket: Bool {
        switch self {
        case .allEvents, .events, .file: true
        default: false
        }
    }

    /// Whether it is a probe. Probes are also available at the root, and over connections beyond the limit.
    var isProbe: Bool { self == .health || self == .readiness }

    /// Whether a token of this scope may use a method here.
    func isOpen(to scope: TokenScope, _ method: HTTPMethod) -> Bool {
        switch scope {
        case .full: true
        // A ticket only allows reading, and not more than its token.
        case .read: method == .get || self == .tickets
        case .metrics: self == .metrics
        }
    }

    /// The log line for a change that operators have to account for, written at any level; `nil` for other requests.
    func change(by method: HTTPMethod) -> Change? {
        switch (self, method) {
        case (.settings, .patch): Change(line: "settings are changed", tellsResult: true)
        case (.download, .delete): Change(line: "a download is deleted", tellsResult: false)
        case (.downloads, .delete): Change(line: "downloads are deleted", tellsResult: true)
        case (.cancel, .post): Change(line: "a download is cancelled", tellsResult: false)
        case (.cancelAll, .post): Change(line: "downloads are cancelled", tellsResult: true)
        case (.pauseAll, .post): Change(line: "downloads are paused", tellsResult: true)
        case (.resumeAll, .post): Change(line: "downloads are resumed", tellsResult: true)
        default: nil
        }
    }

    /// A log line about a change.
    struct Change: Sendable {
        let line: String
        /// Whether the line includes the response body: the number of downloads, or the new settings. The body for a
        /// single download has its URL, which may be a secret.
        let tellsResult: Bool
    }

    /// Whether it needs no token: probes, the console, which asks for a token, and pages that are the same for every
    /// service.
    var isPublic: Bool {
        switch self {
        case .startPage, .consoleFile, .health, .readiness, .problem, .document, .reference: true
        default: false
        }
    }
}
