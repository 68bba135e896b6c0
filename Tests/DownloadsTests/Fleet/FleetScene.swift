import Foundation
import HTTPClient
import HTTPCore
import System
import TestSupport
import TestUpstream

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadFiles
@testable import DownloadStore
@testable import Downloads

/// A database for one test, an origin, and replicas on them.
final class FleetScene: Sendable {
    let database: TestDatabase
    let upstream: TestUpstream
    let base: String
    let client: HTTPClient

    init() throws {
        database = try PrivatePostgres.database()
        upstream = TestUpstream()
        base = try upstream.start()
        client = try HTTPClient(configuration: ClientConfiguration())
    }

    /// Starts a replica.
    /// - Parameters:
    /// - directory: the directory of an earlier replica, which has ended.
    /// - store: the relay between the replica and its store.
    func replica(
        in directory: TemporaryDirectory? = nil, starting: Bool = true,
        configure: (inout DownloadsConfiguration) -> Void = { _ in },
        store: (@Sendable (any RecordStore) -> any RecordStore)? = nil
    ) async throws -> Replica {
        let directory = try directory ?? TemporaryDirectory()
        var configuration = DownloadsConfiguration(
            dataDirectory: directory.path + "/data", destinationGuard: DestinationGuard(allowsPrivate: true, allowed: []))
        configuration.database = database.conninfo
        configuration.lease = .seconds(3)
        configuration.retryDelay = (.milliseconds(1), .milliseconds(20))
        configuration.pulse = .milliseconds(20)
        configuration.checkpointInterval = .milliseconds(20)
        configure(&configuration)
        let log = Locked<[String]>([])
        let events = Locked<[DownloadLogEvent]>([])
        let away = Waiter(0)
        let write: @Sendable (DownloadLogEvent) -> Void = { event in
            events.withLock { $0.append(event) }
            if case .warning(let text) = event { log.withLock { $0.append(text) } }
            if case .objectStorage(_?) = event { away.update { $0 += 1 } }
        }
        let webhooks = PlainWebhookSender(client: client)
        let service: DownloadService
        if let store {
            let (database, lease) = (database.conninfo, configuration.lease)
            service = try await DownloadService(
                ServiceOpening(configuration, client, webhooks, log: write) { directory throws(StoreError) in
                    let node = try directory.node()
                    let fleet = try FleetStore(.init(database: database, node: node, lease: lease), in: directory)
                    return (store(fleet), fleet)
                })
        } else {
            service = try await DownloadService(
                configuration: configuration, client: client, webhooks: webhooks, log: write)
        }
        if starting { await service.start() }
        return Replica(directory: directory, service: service, warnings: log, events: events, away: away)
    }

    /// A synthetic entity of the origin.
    func new(_ query: String) throws -> NewDownload {
        guard let url = HTTPURL(base + "/entity?" + query) else { throw ServiceFixture.Missing(what: "a URL for \(query)") }
        return NewDownload(url: url)
    }

    /// An entity that takes more than a minute, unless its limit is removed.
    func slow(seed: Int) throws -> NewDownload {
        var new = try new("size=20000000&seed=\(seed)")
        new.speedLimit = 200_000
        return new
    }

    /// The instances that own downloads.
    func owners(of ids: [RecordID], _ replica: Replica) async throws -> [RecordID: Int64] {
        let taking = try await replica.service.fleet?.take(ids)
        let own = replica.service.fleet?.instance ?? 0
        return Dictionary(uniqueKeysWithValues: (taking?.records ?? []).map { ($0.id, own) }).merging(taking?.owners ?? [:]) {
            $1
        }
    }
}

/// One replica of a fleet.
struct Replica: Sendable {
    let directory: TemporaryDirectory
    let service: DownloadService
    let warnings: Locked<[String]>
    /// All events for the log.
    let events: Locked<[DownloadLogEvent]>
    /// The number of failures to store finished files.
    let away: Waiter<Int>

    /// Waits until the replica shows such a download; the suite's time limit bounds the wait.
    func follow(_ id: RecordID, until condition: @Sendable (Download) -> Bool) async throws -> Download {
        let (wakes, waker) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let subscription = service.events.subscribe(scope: nil, after: nil, interval: .milliseconds(5)) { waker.yield() }
        defer { subscription.cancel() }
        while true {
            while subscription.next(now: .now) != nil {}
            if let download = service.index.download(id), condition(download) { return download }
            // Progress wakes no reader.
            let due = subscription.nextDue(now: .now)
            let progress = Task {
                if let due { try await Task.sleep(until: due, clock: .continuous) } else { return }
                waker.yield()
            }
            for await _ in wakes { break }
            progress.cancel()
            if Task.isCancelled {
                throw ServiceFixture.Missing(what: "the condition: \(String(describing: service.index.download(id)))")
            }
        }
    }

    /// The next change of a download at this replica that satisfies the condition.
    func next(of id: RecordID, where condition: @Sendable (Download) -> Bool) async throws -> Download {
        let (wakes, waker) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let subscription = service.events.subscribe(scope: id, after: nil, interval: .milliseconds(5)) { waker.yield() }
        defer { subscription.cancel() }
        while true {
            while let event = subscription.next(now: .now) {
                if case .download(_, let download) = event, condition(download) { return download }
            }
            try Task.checkCancellation()
            for await _ in wakes { break }
        }
    }

    /// The events for the log about records after the lease was lost.
    var newsAfterFence: [DownloadLogEvent] {
        let events = events.withLock { $0 }
        let end = events.firstIndex { if case .fenced = $0 { true } else { false } }
        return events[(end ?? events.endIndex)...].filter(\.tellsOfRecord)
    }

    /// Stops all traffic to and from the database until the returned function is called.
    func freeze() async throws -> @Sendable () -> Void {
        guard let fleet = service.fleet else { throw ServiceFixture.Missing(what: "a fleet") }
        let isFrozen = Monitor(true)
        fleet.store.begin { _ in isFrozen.wait { $0 ? .wait(nil) : .done(()) } }
        return { isFrozen.withLock { ($0 = false, wake: true) } }
    }
}

extension DownloadService {
    /// The store of the replica; `nil`: the service is not one.
    nonisolated var fleet: FleetStore? { sharing?.fleet }
    /// The object storage of the replica; `nil`: its finished files are on this machine.
    nonisolated var objects: ObjectFinishedFiles? { sharing?.objects }

    private var replica: FleetCoordination? { coordination as? FleetCoordination }

    /// Whether the replica has lost its lease.
    var isFenced: Bool { replica?.isFenced ?? false }

    /// The number of remote commands that the replica has accepted.
    var acceptedCommands: Int { replica?.commands.acceptedCount ?? 0 }

    func receive(_ event: ReplicaEvent) { coordination.receive(event, in: self) }
}
