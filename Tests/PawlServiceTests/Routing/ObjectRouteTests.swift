import Catalog
import Foundation
import HTTPClient
import HTTPCore
import HTTPServer
import PawlConfiguration
import Subscriptions
import TestSupport
import TestUpstream
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import Downloads
@testable import ObjectStorage
@testable import PawlService

@Suite(
    "Files in object storage", .timeLimit(.minutes(3)),
    .enabled(
        if: PrivatePostgres.isWanted && PrivateStorage.isWanted, "PAWL_FLEET_TESTS is not set: Tests/Fleet/run runs them"))
struct ObjectRouteTests {
    /// A replica with a finished file of 1,000 bytes, and its responses to requests for it.
    private struct Scene {
        let upstream: TestUpstream
        let downloads: DownloadService
        let server: HTTPServer
        let client: HTTPClient
        let port: Int
        let storage: String
        let id: RecordID

        func send(_ method: String, _ query: String = "", _ fields: [(String, String)] = []) async throws -> TestResponse {
            let name = method == "HEAD" ? "" : "/s%C3%B6ng.bin"
            let (path, client) = ("/downloads/\(id)/file\(name)\(query)", TestClient(port: port))
            return try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(with: Result { try client.send(method, path, fields: fields) })
                }
            }
        }

        func follow(_ response: TestResponse, _ method: HTTPMethod = .get, range: String? = nil) async throws -> ClientResponse {
            let address = try #require(response["location"])
            var request = ClientRequest(url: try #require(HTTPURL(address)))
            request.method = method.name
            request.range = range
            return try await client.fetch(request, bodyLimit: 1 << 20)
        }
    }

    private func with(_ body: (Scene) async throws -> Void) async throws {
        let (database, service) = (try PrivatePostgres.database(), try await PrivateStorage.shared())
        let credentials = try #require(
            ObjectCredentials(accessKeyID: service.accessKeyID, secretAccessKey: service.secretAccessKey))
        let bucket = "routes-\(UInt64.random(in: 0...UInt64.max))"
        let location = try ObjectLocation(parsing: "s3://\(bucket)/p?endpoint=\(service.endpoint)")
        let client = try HTTPClient(configuration: ClientConfiguration())
        let storage = ObjectStorage(location, credentials: credentials, client: client)
        _ = try await storage.send(StorageRequest("PUT", body: []))
        let directory = try TemporaryDirectory()
        let upstream = TestUpstream()
        let base = try upstream.start()
        var settings = DownloadsConfiguration(
            dataDirectory: directory.path + "/data", destinationGuard: DestinationGuard(allowsPrivate: true, allowed: []))
        settings.database = database.conninfo
        (settings.objects, settings.objectCredentials) = (location, credentials)
        let end = Waiter<DownloadState?>(nil)
        let downloads = try await DownloadService(configuration: settings, client: client) { event in
            if case .transition(let download) = event, !download.state.isLive { end.update { $0 = download.state } }
        }
        await downloads.start()
        var new = NewDownload(url: try #require(HTTPURL("\(base)/entity?size=1000&seed=1")))
        new.filename = "söng.bin"
        let id = try await downloads.add(new).download.id
        #expect(try await end.wait { $0 != nil } == .completed)
        while downloads.index.download(id)?.state != .completed { try await nextTurn() }
        var configuration = Configuration()
        configuration.server.port = 0
        configuration.downloads.dataDirectory = directory.path
        let condition = ServiceCondition(downloadsDirectory: directory.path, started: .now)
        let log = Log(level: .error, format: .text, now: { .now() }, sink: { _ in })
        let catalog = Catalog(configuration: CatalogConfiguration(bases: [:]), client: client)
        let api = API(
            configuration: configuration, downloads: downloads, catalog: catalog,
            subscriptions: SubscriptionService(
                downloads: downloads, catalog: catalog, client: client, destinationGuard: nil, resource: { $0.resource(.none) }),
            condition: condition,
            metrics: ServiceMetrics(), log: log, descriptors: DescriptorBudget(descriptors: 1024))
        var serverSettings = ServerConfiguration()
        serverSettings.port = 0
        let server = HTTPServer(configuration: serverSettings, application: api)
        let address = try server.start()
        let scene = Scene(
            upstream: upstream, downloads: downloads, server: server, client: client, port: address.port,
            storage: service.endpoint, id: id)
        let result = await Self.result { try await body(scene) }
        await server.shutdown(within: .seconds(2))
        await downloads.shutdown()
        await upstream.shutdown()
        client.shutdown()
        try result.get()
    }

    private static func result(_ body: () async throws -> Void) async -> Result<Void, any Error> {
        do { return .success(try await body()) } catch { return .failure(error) }
    }

    @Test("Redirects to the file, whole and by range, after evaluating conditions")
    func redirect() async throws {
        try await with { scene in
            let content = try #require(TestUpstream.content(of: "/entity?size=1000&seed=1")).bytes
            let response = try await scene.send("GET", "", [("Range", "bytes=1-2")])
            #expect(response.status == 302 && response.body.isEmpty)
            #expect(response["location"]?.hasPrefix("\(scene.storage)/routes-") == true)
            #expect(response["cache-control"] == "no-store" && response["referrer-policy"] == "no-referrer")
            // A player jumps later.
            #expect(response["location"]?.contains("X-Amz-Expires=43200&") == true)
            let whole = try await scene.follow(response)
            #expect(whole.head.status == .ok && whole.body == content)
            #expect(whole.head.fields[.contentDisposition] == ContentDisposition.attachment(filename: "söng.bin"))
            #expect(whole.head.fields[.contentType] == scene.downloads.index.download(scene.id)?.mediaType)
            let part = try await scene.follow(response, range: "bytes=10-19")
            #expect(part.head.status.code == 206 && part.body == Array(content[10..<20]))

            let head = try await scene.send("HEAD")
            #expect(head.status == 302)
            let described = try await scene.follow(head, .head)
            #expect(described.head.status == .ok && described.head.contentLength == 1000)

            let etag = "\"\(scene.downloads.index.download(scene.id)?.sha256 ?? "")\""
            let known = try await scene.send("GET", "", [("If-None-Match", etag)])
            #expect(known.status == 304 && known["etag"] == etag && known["location"] == nil)
            let time = try #require(known["last-modified"])
            let since = try await scene.send("HEAD", "", [("If-Modified-Since", time)])
            #expect(since.status == 304)
            let other = try await scene.send("GET", "", [("If-Match", "\"other\"")])
            #expect(other.status == 412 && other.code == "precondition-failed" && other["location"] == nil)
            #expect(try await scene.send("GET", "", [("If-Match", etag)]).status == 302)
            #expect(try await scene.send("GET", "?inline=maybe").status == 400)
        }
    }

    @Test("Browsers display only types there that run nothing, since the storage has no sandbox")
    func inline() throws {
        let url = try #require(HTTPURL("http://a/"))
        func isHarmless(_ mediaType: String) -> Bool {
            var download = Download(NewDownload(url: url), id: RecordID(value: 1), at: .now())
            download.mediaType = mediaType
            return FileFields().file(of: download, named: "a").isHarmless
        }
        for type in ["audio/mp4", "Video/x; a=b", "image/png", "text/plain;charset=utf-8", "application/pdf"] {
            #expect(isHarmless(type), "\(type)")
        }
        for type in ["text/html", "image/svg+xml", "IMAGE/SVG+XML; x=1", "application/xhtml+xml", "text/xml", ""] {
            #expect(!isHarmless(type), "\(type)")
        }
    }
}
