import Foundation
import HTTPClient
import HTTPCore
import Postgres
import System
import TestSupport
import TestUpstream

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadStore
@testable import Downloads
@testable import ObjectStorage

/// A fleet with finished files in a bucket for one test, behind a relay. Clients reach it directly.
final class ObjectScene: Sendable {
    static let isWanted = PrivatePostgres.isWanted && PrivateStorage.isWanted
    static let whySkipped = "PostgreSQL's server or juicefs is not installed"

    let fleet: FleetScene
    let relay: FaultyRelay
    /// The bucket, without the relay.
    let storage: ObjectStorage
    let objects: (location: ObjectLocation, credentials: ObjectCredentials)

    init() async throws {
        fleet = try FleetScene()
        let service = try await PrivateStorage.shared()
        guard let port = HTTPURL(service.endpoint)?.port,
            let credentials = ObjectCredentials(accessKeyID: service.accessKeyID, secretAccessKey: service.secretAccessKey)
        else { throw ServiceFixture.Missing(what: "a storage service") }
        relay = try FaultyRelay(to: port)
        let bucket = "fleet-\(UInt64.random(in: 0...UInt64.max))"
        let direct = try ObjectLocation(parsing: "s3://\(bucket)/some/prefix?endpoint=\(service.endpoint)")
        storage = ObjectStorage(direct, credentials: credentials, client: fleet.client)
        _ = try await storage.send(StorageRequest("PUT", body: []))
        objects = (
            try ObjectLocation(
                parsing: "s3://\(bucket)/some/prefix?endpoint=http://127.0.0.1:\(relay.port)&public=\(service.endpoint)"),
            credentials
        )
    }

    func replica(
        in directory: TemporaryDirectory? = nil, configure: (inout DownloadsConfiguration) -> Void = { _ in },
        store: (@Sendable (any RecordStore) -> any RecordStore)? = nil
    ) async throws -> Replica {
        try await fleet.replica(
            in: directory,
            configure: {
                ($0.objects, $0.objectCredentials) = (objects.location, objects.credentials)
                configure(&$0)
            }, store: store)
    }

    /// A client's response from a replica's URL for the file.
    func get(_ id: RecordID, from replica: Replica, range: String? = nil) async throws -> ClientResponse {
        guard let file = replica.service.index.download(id)?.file,
            let text = replica.service.address(
                of: id, as: file, isHead: false, disposition: "attachment", mediaType: "audio/x-test", validFor: 60),
            let url = HTTPURL(text)
        else { throw ServiceFixture.Missing(what: "the address of \(id)") }
        var request = ClientRequest(url: url)
        request.range = range
        return try await fleet.client.fetch(request, bodyLimit: 100 << 20)
    }

    /// The number of requests to the origin for a path.
    func requests(_ seed: Int) -> Int { fleet.upstream.requests.count { $0.target.hasSuffix("seed=\(seed)") } }

    /// The keys in the storage.
    func keys() async throws -> [String] { try await storage.list().items.map(\.key).filter { !$0.hasPrefix(".pawl/") } }

    /// The key of the mark of the fleet's location.
    func mark() async throws -> String {
        guard let mark = try await storage.list(prefix: ".pawl/").items.first else {
            throw ServiceFixture.Missing(what: "a mark")
        }
        return mark.key
    }

    /// The number of objects noted for removal in the database.
    func garbage() throws -> Int64 {
        let connection = try PostgresConnection(fleet.database.conninfo, application: "test", within: .seconds(10))
        defer { connection.close() }
        let count = PostgresStatement("count", "SELECT count(*) FROM pawl.discarded_objects")
        return try connection.run([PostgresCommand(count, [])], within: .seconds(10)).first?.rows.first?.integer(0) ?? -1
    }

    func collector(_ replica: Replica) async throws -> ObjectCollector {
        guard let store = replica.service.fleet else { throw ServiceFixture.Missing(what: "a fleet") }
        return ObjectCollector(fleet: store, storage: storage, isOwn: { true }, log: { _ in })
    }
}

extension DownloadService {
    /// Whether the file is published and its record is being saved.
    func isCompleting(_ id: RecordID) -> Bool {
        if case .completing? = entries[id]?.machine.phase { true } else { false }
    }

    /// Whether the file is being published, or waits for the storage.
    func isPublishing(_ id: RecordID) -> Bool {
        if case .publishing? = entries[id]?.machine.phase { true } else { false }
    }
}
