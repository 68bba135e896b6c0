import Foundation
import HTTPClient
import HTTPCore
import JSON
import Synchronization
import System
import TestSupport
import TestUpstream

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadFiles
@testable import DownloadStore
@testable import Downloads

/// A download service with a faulty origin, both real, on loopback and in their own directory.
final class ServiceFixture: Sendable {
    let directory: TemporaryDirectory
    let upstream: TestUpstream
    let base: String
    let client: HTTPClient
    let service: DownloadService
    /// The service's store, which fails on demand.
    let store: FailingStore

    /// - Parameters:
    /// - directory: the working directory; another service may have used it before.
    /// - upstream: the origin of an earlier fixture, so that URLs stay the same.
    ///   - starting: whether transfers begin.
    init(
        directory: TemporaryDirectory? = nil, continuing earlier: ServiceFixture? = nil, starting: Bool = true,
        allowsPrivate: Bool = true, disk: SlowDisk? = nil,
        configure: (inout DownloadsConfiguration) -> Void = { _ in }
    ) async throws {
        self.directory = try directory ?? earlier?.directory ?? TemporaryDirectory()
        if let earlier {
            upstream = earlier.upstream
            base = earlier.base
        } else {
            upstream = TestUpstream()
            base = try upstream.start()
        }
        client = try HTTPClient(configuration: ClientConfiguration())
        var configuration = DownloadsConfiguration(
            dataDirectory: self.directory.path + "/data",
            destinationGuard: DestinationGuard(allowsPrivate: allowsPrivate, allowed: []))
        configuration.retryDelay = (.milliseconds(1), .milliseconds(20))
        configuration.pulse = .milliseconds(20)
        configuration.checkpointInterval = .milliseconds(20)
        configure(&configuration)
        var opened: FailingStore?
        service = try await DownloadService(
            ServiceOpening(
                configuration, client, PlainWebhookSender(client: client), log: { _ in },
                openFiles: disk.map { disk in { disk.files(in: $0) } }
            ) { directory throws(StoreError) in
                let store = FailingStore(try GroupCommitStore(directory))
                opened = store
                return (store, nil)
            })
        guard let opened else { throw Missing(what: "a store") }
        store = opened
        if starting { await service.start() }
    }

    /// Returns once the changes that readers have seen are durable.
    func settle() async throws {
        // A change is published before it is submitted, without a wait in between.
        await service.pass()
        try await store.submit([.probe]).wait()
    }

    /// The state after a crash now, and a service on it.
    func crash(
        starting: Bool = true, damage: (String) throws -> Void = { _ in },
        configure: (inout DownloadsConfiguration) -> Void = { _ in }
    ) async throws -> ServiceFixture {
        let copy = try copy()
        try damage(copy.path + "/data")
        return try await ServiceFixture(directory: copy, continuing: self, starting: starting, configure: configure)
    }

    /// A copy of the data directory, made while the service works in it.
    func copy() throws -> TemporaryDirectory {
        let copy = try TemporaryDirectory()
        let data = copy.path + "/data"
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: false)
        // The records first: bytes of a part file are recorded after they are written.
        try copyRecords(to: data)
        for name in ["incomplete", "files"] {
            try FileManager.default.copyItem(atPath: "\(directory.path)/data/\(name)", toPath: "\(data)/\(name)")
        }
        return copy
    }

    /// Copies the records on the disk in one step: separate copies of the file and its log may not fit each other.
    func copyRecords(to path: String) throws {
        try SQLiteConnection(path: directory.path + "/data/pawl.sqlite").execute("VACUUM INTO '\(path)/pawl.sqlite'")
    }

    /// The URL of a synthetic entity of the origin.
    func url(_ query: String) throws -> HTTPURL {
        guard let url = HTTPURL(base + "/entity?" + query) else { throw Missing(what: "a URL for \(query)") }
        return url
    }

    /// Adds a download of a synthetic entity.
    func add(_ query: String, _ change: (inout NewDownload) -> Void = { _ in }) async throws -> Download {
        var new = NewDownload(url: try url(query))
        change(&new)
        return try await service.add(new).download
    }

    /// Adds small downloads together.
    func addMany(_ count: Int, paused: Bool = false) async throws {
        let items = try (0..<count).map { number in
            var new = NewDownload(url: try url("size=10&seed=\(number)"))
            new.startsPaused = paused
            return Result<NewDownload, Problem>.success(new)
        }
        _ = try await service.add(items)
    }

    /// Follows a download until the condition holds; the suite's time limit bounds the wait.
    func follow(_ id: RecordID, until condition: @Sendable (Download) -> Bool) async throws -> Download {
        let (wakes, waker) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let subscription = service.events.subscribe(scope: id, after: nil, interval: .milliseconds(5)) { waker.yield() }
        defer { subscription.cancel() }
        waker.yield()
        for await _ in wakes {
            while let event = subscription.next(now: .now) {
                switch event {
                case .snapshot(_, let downloads):
                    if let found = downloads.first(where: condition) { return found }
                case .download(_, let download):
                    if condition(download) { return download }
                case .removed:
                    throw Missing(what: "download \(id), which was removed")
                }
            }
            guard let due = subscription.nextDue(now: .now) else { continue }
            Task {
                try await Task.sleep(until: due, clock: .continuous)
                waker.yield()
            }
        }
        throw Missing(what: "the condition")
    }

    /// Follows a download until it has ended.
    func end(of id: RecordID) async throws -> Download {
        try await follow(id) { !$0.state.isLive }
    }

    /// The finished file's bytes.
    func file(_ download: Download) throws -> [UInt8] {
        guard let path = download.path else { throw Missing(what: "a file name") }
        return try [UInt8](Data(contentsOf: URL(filePath: "\(directory.path)/data/files/\(path)")))
    }

    /// Whether the finished file is the synthetic entity, byte for byte.
    ///
    /// Without optimisation, `==` of arrays takes a hundred times as long as comparing memory, and a failure would print megabytes.
    func file(_ download: Download, is query: String, version: Int = 1) throws -> Bool {
        guard let expected = TestUpstream.content(of: "/entity?" + query, version: version)?.bytes else {
            throw Missing(what: "an entity for \(query)")
        }
        return try Data(file(download)) == Data(expected)
    }

    /// The edition of the synthetic entity that the finished file is, byte for byte; nil for another than the first
    /// two.
    func edition(_ download: Download, of query: String) throws -> Int? {
        try (1...2).first { try file(download, is: query, version: $0) }
    }

    /// The path of a download's only part file.
    func part(of id: RecordID) -> URL {
        URL(filePath: partPath(of: id, in: "\(directory.path)/data"))
    }

    /// Names of the files in a directory of the data directory.
    func names(in part: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(directory.path)/data/\(part)").sorted()
    }

    /// Requests for the entity so far, redirects included.
    func requests(_ path: String = "/entity") -> [LoggedRequest] {
        upstream.requests.filter { $0.target.hasPrefix(path) }
    }

    struct Missing: Error {
        let what: String
    }
}

/// Posts messages without signatures, whose data is the id and the state of the download.
struct PlainWebhookSender: WebhookSender {
    let client: HTTPClient

    func send(_ delivery: WebhookDelivery) async throws(ClientError) -> Int {
        guard let url = HTTPURL(delivery.url) else { throw .invalidRequest(delivery.url) }
        var request = ClientRequest(url: url)
        request.method = "POST"
        request.body = .bytes(delivery.body)
        request.fields = [("webhook-id", delivery.id.description)]
        return try await client.fetch(request, bodyLimit: 1024).head.status.code
    }

    func resource(of download: Download) -> [UInt8] { Array("\"\(download.id) \(download.state.rawValue)\"".utf8) }
}

/// A message to a webhook, as its receiver reads it.
struct ReceivedMessage {
    let type: String
    let data: JSONValue

    init(_ request: ScriptedOrigin.Request) throws {
        let body = try JSONValue(parsing: request.body)
        guard let type = body["type"]?.string, let data = body["data"],
            body["timestamp"]?.string.flatMap(Timestamp.init(parsing:)) != nil
        else { throw ServiceFixture.Missing(what: "a message in \(String(decoding: request.body, as: UTF8.self))") }
        (self.type, self.data) = (type, data)
    }
}

/// Puts a whole part file in place of a download's part file, with a second name among the finished files, as
/// publishing does.
/// - Parameter generation: its generation; `nil` for the previous part file's.
func makeWhole(
    _ id: RecordID, _ bytes: [UInt8], in directory: String, generation: UInt64? = nil, linkedAs name: String
) throws {
    let part = URL(filePath: partPath(of: id, in: directory))
    let generation = generation ?? PartName(part.lastPathComponent)?.generation ?? 1
    let whole = PartName(id, generation, whole: SHA256.digest(of: bytes))
    try? FileManager.default.removeItem(at: part)
    let path = "\(directory)/incomplete/\(whole.text)"
    try Data(bytes).write(to: URL(filePath: path))
    try FileManager.default.linkItem(atPath: path, toPath: "\(directory)/files/\(name)")
}

/// The path of a download's only part file in a data directory, or an unused path.
func partPath(of id: RecordID, in directory: String) -> String {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory + "/incomplete")) ?? []
    let found = names.filter { PartName($0)?.id == id }
    return "\(directory)/incomplete/" + (found.count == 1 ? found[0] : "\(id).part")
}

extension DownloadService {
    /// Returns when the actor is free.
    fileprivate func pass() {}
}

extension DownloadOptions {
    /// Returns options with these choices.
    static func with(_ choose: (inout DownloadOptions) throws -> Void) rethrows -> DownloadOptions {
        var options = DownloadOptions()
        try choose(&options)
        return options
    }
}
