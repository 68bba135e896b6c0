import Downloads
import HTTPClient
import HTTPCore
import PawlConfiguration
import Synchronization
import System
import TestSupport
import Testing

/// A feed whose episodes, statuses and addresses a test changes, with the files of its episodes.
final class FeedOrigin: Sendable {
    struct State {
        /// The episodes, newest first: an id and a name.
        var episodes: [(id: String, name: String)] = []
        /// The suffix of the addresses of files.
        var suffix = ""
        /// Statuses other than 200, by path.
        var statuses: [String: Int] = [:]
        var more = ""
        /// Whether episodes have dates, by their ids.
        var dates = false
        /// Whether the document breaks off in its last item.
        var isCut = false
        /// The end of the ids.
        var idSuffix = ""
        /// The user and password in the addresses of files.
        var user = ""
        /// Whether episodes have ids.
        var hasIds = true
        /// The files of episodes that are not `id.mp3`, by id.
        var files: [String: String] = [:]
        var hasTags = true
        /// The opaque tag of all files; `nil` for none.
        var fileTag: String?
        /// Opens the first for a request of the feed, and answers when the second is open; `nil` to answer at once.
        var gates: (asked: Gate, answers: Gate)?
    }

    let state: Locked<State>
    let origin: ScriptedOrigin

    init(_ episodes: [(id: String, name: String)]) throws {
        let state = Locked(State(episodes: episodes))
        self.state = state
        let port = Locked(0)
        origin = try ScriptedOrigin { request in
            let state = state.withLock { $0 }
            let path = String(request.target.prefix { $0 != "?" })
            if let status = state.statuses[path] {
                let target = path == "/old" ? "/feed" : "/elsewhere"
                return [.response(status, [("Location", target), ("Retry-After", "7")], body: [])]
            }
            if path.hasPrefix("/files/") {
                let body = Array("file \(path)".utf8)
                let fields = [("Content-Type", "audio/mpeg")] + (state.fileTag.map { [("ETag", "\"\($0)\"")] } ?? [])
                guard request.method == "HEAD" else { return [.response(200, fields, body: body)] }
                let lines = (fields + [("Content-Length", "\(body.count)")]).map { "\($0): \($1)\r\n" }
                return [.text("HTTP/1.1 200 OK\r\n\(lines.joined())\r\n")]
            }
            let items = state.episodes.map { id, name in
                let host = "\(state.user)127.0.0.1:\(port.withLock { $0 })"
                return
                    (state.dates ? "<item><pubDate>\(id) Oct 2024 10:00:00 GMT</pubDate>" : "<item>")
                    + (state.hasIds ? "<guid>\(id)\(state.idSuffix)</guid>" : "")
                    + "<title>\(name)</title><enclosure type=\"audio/mpeg\" "
                    + "url=\"http://\(host)/files/\(state.files[id] ?? id).mp3\(state.suffix)\"/></item>"
            }
            let text = "<rss version=\"2.0\"><channel><title>Show</title>\(state.more)\(items.joined())</channel></rss>"
            if state.isCut {
                return [.response(200, [("Content-Type", "application/rss+xml")], body: Array(text.utf8.dropLast(50)))]
            }
            let tag = "\"\(text.hashValue)\""
            if state.hasTags, request["If-None-Match"] == tag { return [.response(304, [("ETag", tag)], body: [])] }
            let waits: [ScriptedOrigin.Step] = state.gates.map { [.open($0.asked), .wait($0.answers)] } ?? []
            return waits + [
                .response(
                    200, [("Content-Type", "application/rss+xml")] + (state.hasTags ? [("ETag", tag)] : []),
                    body: Array(text.utf8))
            ]
        }
        port.withLock { $0 = origin.port }
    }

    func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

    var url: String { origin.url("/feed") }

    /// The number of requests for a path.
    func count(_ path: String) -> Int { origin.requests.count { $0.target.prefix { $0 != "?" } == path } }
}

extension RunningService {
    /// Starts a service that may connect to the origins of feeds, passes it to `body`, and stops it.
    static func with(
        feeds: [FeedOrigin], directory: TemporaryDirectory? = nil, _ body: (RunningService) async throws -> Void
    ) async throws {
        let bases = try feeds.map { try #require(HTTPURL($0.origin.url(""))) }
        try await with(directory: directory, { $0.downloads.destinationGuard.allowed += bases.map { DestinationRule($0) } }, body)
    }
}
