import Catalog
import Foundation
import HTTPClient
import HTTPCore
import HTTPServer
import JSON
import PawlConfiguration
import Subscriptions
import System
import TestSupport
import TestUpstream
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadStore
@testable import Downloads
@testable import PawlService

@Suite(
    "Requests to the replicas of a fleet", .timeLimit(.minutes(3)),
    .enabled(if: PrivatePostgres.isWanted, "\(PrivatePostgres.whySkipped)"))
struct FleetRouteTests {
    /// One replica, without transfers.
    private struct Replica {
        let directory: TemporaryDirectory
        let downloads: DownloadService
        let server: HTTPServer
        let client: HTTPClient
        let port: Int

        init(_ database: TestDatabase) async throws {
            directory = try TemporaryDirectory()
            client = try HTTPClient(configuration: ClientConfiguration())
            var settings = DownloadsConfiguration(
                dataDirectory: directory.path + "/data", destinationGuard: DestinationGuard(allowsPrivate: true, allowed: []))
            settings.database = database.conninfo
            settings.lease = .seconds(60)
            downloads = try await DownloadService(configuration: settings, client: client) { _ in }
            await downloads.start()
            var configuration = Configuration()
            configuration.server.port = 0
            configuration.downloads.dataDirectory = directory.path
            let condition = ServiceCondition(downloadsDirectory: directory.path, started: .now)
            condition.isReady = true
            let log = Log(level: .error, format: .text, now: { .now() }, sink: { _ in })
            let catalog = Catalog(configuration: CatalogConfiguration(bases: [:]), client: client)
            let api = API(
                configuration: configuration, downloads: downloads, catalog: catalog,
                subscriptions: SubscriptionService(
                    downloads: downloads, catalog: catalog, client: client, destinationGuard: nil,
                    resource: { $0.resource(.none) }),
                condition: condition,
                metrics: ServiceMetrics(), log: log, descriptors: DescriptorBudget(descriptors: 1024))
            var serverSettings = ServerConfiguration()
            serverSettings.port = 0
            server = HTTPServer(configuration: serverSettings, application: api)
            port = try server.start().port
        }

        func stop() async {
            await server.shutdown(within: .seconds(2))
            await downloads.shutdown()
        }

        func get(_ path: String, _ fields: [(String, String)] = []) async throws -> TestResponse {
            let client = TestClient(port: port)
            return try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(with: Result { try client.send("GET", path, fields: fields) })
                }
            }
        }

        /// Stops all traffic to and from the database until the returned function is called.
        func freeze() async throws -> @Sendable () -> Void {
            let fleet = try #require(downloads.sharing?.fleet)
            let isFrozen = Monitor(true)
            fleet.store.begin { _ in isFrozen.wait { $0 ? .wait(nil) : .done(()) } }
            return { isFrozen.withLock { ($0 = false, wake: true) } }
        }
    }

    @Test("A long poll at a replica that lags behind does not return an earlier version")
    func longPoll() async throws {
        let database = try PrivatePostgres.database()
        let (first, second) = try await (Replica(database), Replica(database))
        var new = NewDownload(url: try #require(HTTPURL("http://127.0.0.1:9/file")))
        new.startsPaused = true
        let id = try await first.downloads.add(new).download.id
        while second.downloads.index.version(of: id) == nil { try await Task.sleep(for: .zero) }
        let thaw = try await second.freeze()
        var change = DownloadChange()
        change.labels = ["news"]
        _ = try await first.downloads.change(id, change)
        let known = try #require(try await first.get("/downloads/\(id)")["etag"])
        let readers = second.downloads.events.readerCount
        let status = Locked<Int?>(nil)
        let poll = Task {
            let answer = try await second.get("/downloads/\(id)?wait=1", [("If-None-Match", known)])
            status.withLock { $0 = answer.status }
        }
        while second.downloads.events.readerCount == readers, status.withLock({ $0 == nil }) { try await Task.sleep(for: .zero) }
        thaw()
        try await poll.value
        #expect(status.withLock { $0 } == 304)
        await first.stop()
        await second.stop()
    }
}
