public import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A client of a Pawl service.
///
/// ```swift
/// let pawl = Pawl(url, token: token)
/// let results = try await pawl.search("prelude", media: "music").results
/// let download = try await pawl.add(trackId: results[0].id)
/// for try await downloads in pawl.updates() {
///     if downloads.first(where: { $0.id == download.id })?.state == .completed { break }
/// }
/// let file = try await pawl.file(of: download.id)
/// ```
///
/// Methods throw ``PawlError``, or `CancellationError` if their task is cancelled, which ends the request too. No response is cached, no
/// cookie is kept, and the token goes to the scheme, host and port of the service only.
public final class Pawl: Sendable {
    private let url: URL
    private let token: String?
    private let silence: TimeInterval
    private let session: URLSession
    private let exchanges = Exchanges()

    /// Creates a client, which sends nothing yet.
    ///
    /// - Parameters:
    ///   - url: The address of the service, with its base path if it has one: `https://host.example/pawl/`.
    ///   - token: A token of the service, if it asks for one.
    public convenience init(_ url: URL, token: String? = nil) { self.init(url, token: token, silence: 40) }

    /// - Parameter silence: The seconds without a byte that end an event stream. The service sends a comment every 4 s.
    init(_ url: URL, token: String?, silence: TimeInterval) {
        (self.url, self.token, self.silence) = (url, token?.trimmingCharacters(in: .whitespacesAndNewlines), silence)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        configuration.timeoutIntervalForRequest = 60
        // Each reader of updates has a connection, for which no request must wait.
        configuration.httpMaximumConnectionsPerHost = 64
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    deinit { session.finishTasksAndInvalidate() }

    /// Searches a source.
    ///
    /// - Parameters:
    ///   - term: The text to search for.
    ///   - source: `itunes`, which is the default, `archive`, `posts` or `feed`.
    ///   - media: The kind of media, such as `music`.
    ///   - session: A name for the searches of one search field. A newer one ends the older one with the code `search-superseded`.
    ///   - limit: The maximum number of results, up to 200.
    ///   - offset: The number of results to skip.
    public func search(
        _ term: String, source: String? = nil, media: String? = nil, session: String? = nil, limit: Int = 50, offset: Int = 0
    ) async throws -> SearchResponse {
        let page = [("limit", String(limit)), ("offset", String(offset))]
        let query = [("term", term), ("source", source), ("media", media), ("session", session)] + page
        return try await send(request("GET", ["search"], query))
    }

    /// Lists downloads, the newest first, page by page.
    ///
    /// - Parameters:
    ///   - states: The states of the downloads; empty for all.
    ///   - label: A label of the downloads.
    ///   - limit: The maximum number of downloads, up to 200.
    ///   - cursor: The `nextCursor` of the page before.
    public func downloads(
        states: [Download.State] = [], label: String? = nil, limit: Int = 50, cursor: String? = nil
    ) async throws -> DownloadPage {
        let query = states.map { ("state", $0.rawValue) } + [("label", label), ("limit", String(limit)), ("cursor", cursor)]
        return try await send(request("GET", ["downloads"], query))
    }

    /// Adds a download of a URL, which the service does not lose from then on. If the URL is live or completed already, that download is
    /// returned, so that the call can be repeated.
    ///
    /// - Parameters:
    ///   - url: The http or https URL of the file.
    ///   - filename: The name of the file; `nil` for the origin's.
    ///   - labels: Labels, by which downloads can be listed.
    @discardableResult public func add(url: URL, filename: String? = nil, labels: [String] = []) async throws -> Download {
        try await add(NewDownload(url: url.absoluteString, filename: filename, labels: labels))
    }

    /// Adds a download of the search result with this id, in the same way.
    @discardableResult public func add(trackId: String, labels: [String] = []) async throws -> Download {
        try await add(NewDownload(trackId: trackId, labels: labels))
    }

    /// Pauses a download, which keeps its bytes.
    @discardableResult public func pause(_ id: Download.ID) async throws -> Download { try await command("pause", id) }

    /// Resumes a paused or failed download from its bytes.
    @discardableResult public func resume(_ id: Download.ID) async throws -> Download { try await command("resume", id) }

    /// Cancels a download, which loses its bytes.
    @discardableResult public func cancel(_ id: Download.ID) async throws -> Download { try await command("cancel", id) }

    /// Starts a failed or cancelled download again from the first byte.
    @discardableResult public func retry(_ id: Download.ID) async throws -> Download { try await command("retry", id) }

    /// Removes the record of a download, with `deleteFile` the finished file as well. A live download is cancelled first.
    public func remove(_ id: Download.ID, deleteFile: Bool = false) async throws {
        _ = try await exchange(request("DELETE", ["downloads", id], [("deleteFile", String(deleteFile))]))
    }

    /// Fetches the finished file of a download into a temporary directory, which the caller may move or delete.
    ///
    /// ```swift
    /// let file = try await pawl.file(of: download.id)
    /// try FileManager.default.moveItem(at: file, to: documents.appendingPathComponent(file.lastPathComponent))
    /// ```
    ///
    /// - Throws: ``PawlError``, with the code `not-complete` if the download is not completed, or `CocoaError` if the disk is full.
    public func file(of id: Download.ID) async throws -> URL {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("PawlKit-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            let received = directory.appendingPathComponent("file")
            let response = try await exchange(request("GET", ["downloads", id, "file"]), savingTo: received)
            let name = response.head?.suggestedFilename?.split(separator: "/").last.map(String.init) ?? ""
            let file = directory.appendingPathComponent(["", ".", ".."].contains(name) ? id : name)
            try FileManager.default.moveItem(at: received, to: file)
            return file
        } catch {
            try? FileManager.default.removeItem(at: directory)
            throw error
        }
    }

    /// The current list of downloads, again after each change.
    public func updates() -> Updates { Updates(pawl: self) }

    private struct NewDownload: Encodable {
        var url, trackId, filename: String?
        var labels: [String]
    }

    private func add(_ download: NewDownload) async throws -> Download {
        var request = try request("POST", ["downloads"])
        request.httpBody = try JSONEncoder().encode(download)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        return try await send(request)
    }

    private func command(_ name: String, _ id: Download.ID) async throws -> Download {
        try await send(request("POST", ["downloads", id, name]))
    }

    /// Makes a request. Names in the path and values of the query may have any characters.
    private func request(_ method: String, _ path: [String], _ query: [(String, String?)] = []) throws -> URLRequest {
        let unreserved = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        func escape(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? "" }
        var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        let base = components?.percentEncodedPath.split(separator: "/").map { "/\($0)" }.joined() ?? ""
        components?.percentEncodedPath = base + path.map { "/" + escape($0) }.joined()
        let parameters = query.compactMap { name, value in value.map { "\(name)=\(escape($0))" } }
        components?.percentEncodedQuery = parameters.isEmpty ? nil : parameters.joined(separator: "&")
        components?.fragment = nil
        guard let url = components?.url else { throw PawlError.noConnection(URLError(.badURL)) }
        var request = URLRequest(url: url)
        request.httpMethod = method
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        return request
    }

    private func parts(of request: URLRequest, savingTo destination: URL? = nil) -> AsyncThrowingStream<Part, any Error> {
        let task = destination == nil ? session.dataTask(with: request) : session.downloadTask(with: request)
        return exchanges.start(task, savingTo: destination)
    }

    /// Sends a request whose response is a value.
    private func send<Value: Decodable>(_ request: URLRequest) async throws -> Value {
        let response = try await exchange(request)
        guard response.mediaType == "application/json" else { throw response.error }
        return try PawlError.decode(response.body)
    }

    /// Sends a request, and receives its response if that is a success.
    private func exchange(_ request: URLRequest, savingTo file: URL? = nil) async throws -> Response {
        var response = Response()
        for try await part in parts(of: request, savingTo: file) { try response.append(part) }
        try Task.checkCancellation()
        guard !response.isSuccess else { return response }
        // A problem may be in the place of the file.
        if let file, let body = try? Data(contentsOf: file, options: .alwaysMapped) { response.body = body.prefix(1 << 16) }
        throw response.error
    }

    /// Receives events after the one with the id `last`, until the connection ends; `nil` once the connection stands.
    func events(after last: String?, _ handle: (ServerEvent?) async throws -> Void) async throws {
        var request = try request("GET", ["downloads", "events"])
        request.setValue("text/event-stream", forHTTPHeaderField: "Accept")
        request.setValue(last, forHTTPHeaderField: "Last-Event-ID")
        request.timeoutInterval = silence
        var (response, parser) = (Response(), EventParser())
        for try await part in parts(of: request) {
            if case .bytes(let bytes) = part, response.isEventStream {
                for event in try parser.append(bytes) { try await handle(event) }
            } else {
                try response.append(part)
                if response.isEventStream { try await handle(nil) }
            }
        }
        try Task.checkCancellation()
        guard response.isEventStream else { throw response.error }
    }
}
