import DownloadCore
import Downloads
import HTTPClient
import HTTPCore
import JSON
import PawlConfiguration
import System
import TestSupport
import Testing

@testable import PawlService

/// A feed with files for its episodes, at every path but those below `/files/`.
final class PodcastOrigin: Sendable {
    /// The elements of the channel.
    let channel: Locked<String>
    let origin: ScriptedOrigin

    init(_ channel: String = "") throws {
        let channel = Locked(channel)
        self.channel = channel
        origin = try ScriptedOrigin { request in
            if request.target.hasPrefix("/files/missing") { return [.response(404, [], body: [])] }
            if request.target.hasPrefix("/files/") {
                let type = request.target.hasSuffix(".bin") ? "application/octet-stream" : "audio/mpeg"
                return [.response(200, [("Content-Type", type)], body: Array("file \(request.target)".utf8))]
            }
            let text =
                "<rss version=\"2.0\" xmlns:itunes=\"http://www.itunes.com/dtds/podcast-1.0.dtd\">"
                + "<channel>\(channel.withLock { $0 })</channel></rss>"
            return [.response(200, [("Content-Type", "application/rss+xml")], body: Array(text.utf8))]
        }
    }

    func url(_ path: String = "/feed") -> String { origin.url(path) }

    /// An episode with a file.
    static func item(_ id: String, file: String? = nil, _ more: String = "") -> String {
        "<item><guid>\(id)</guid><title>Episode \(id)</title>\(more)"
            + "<enclosure type=\"audio/mpeg\" url=\"/files/\(file ?? id).mp3\"/></item>"
    }

    static let tokens = "ops full full-s3cret\nboard read read-s3cret\n"
    static let full = [("Authorization", "Bearer full-s3cret")]
    static let read = [("Authorization", "Bearer read-s3cret")]

    /// Runs a service that may fetch from the origin; with tokens if `tokens` is a file of them.
    func with(
        tokens: String? = nil, directory: TemporaryDirectory? = nil,
        log: Log = Log(level: .error, format: .text, now: { .now() }, sink: { _ in }),
        _ configure: (inout Configuration) -> Void = { _ in }, _ body: (RunningService) async throws -> Void
    ) async throws {
        let base = try #require(HTTPURL(origin.url("")))
        try await RunningService.with(directory: directory, log: log) { configuration in
            configuration.downloads.destinationGuard.allowed.append(DestinationRule(base))
            configuration.tokensFile = tokens
            configure(&configuration)
        } _: {
            try await body($0)
        }
    }
}

extension RunningService {
    /// Subscribes to a feed with all items, and waits until this number of files is finished.
    func follow(
        _ feed: PodcastOrigin, _ path: String = "/feed", finished count: Int, fields: [(String, String)] = []
    ) async throws -> JSONValue {
        let made = try await send(
            "POST", "/subscriptions", json: "{\"feedUrl\":\"\(feed.url(path))\",\"take\":\"all\"}", fields: fields)
        let id = try #require(made.json["id"]?.string, "\(made.text)")
        #expect(try await send("POST", "/subscriptions/\(id)/refresh", fields: fields).status == 200)
        try await until {
            let list = try await send("GET", "/downloads?state=completed&label=subscription%3A\(id)", fields: fields)
            return list.json["total"]?.integer == Int64(count)
        }
        return try await send("GET", "/subscriptions/\(id)", fields: fields).json
    }
}
