internal import Catalog
internal import Downloads
internal import HTTPClient
internal import HTTPCore
internal import HTTPServer

/// The running service: all rooms, wired.
public final class Service: Sendable {
    /// Where it listens, as a URL: `http://127.0.0.1:8080`.
    public let url: String
    /// The real port.
    public let port: Int

    private let server: HTTPServer
    let downloads: DownloadService
    private let client: HTTPClient
    private let condition: ServiceCondition
    private let access: AccessPolicy
    private let tokenFile: String?
    private let heapTrimmer = HeapTrimmer()
    private let log: Log

    private init(
        server: HTTPServer, address: SocketAddress, downloads: DownloadService, client: HTTPClient,
        api: API, tokenFile: String?, log: Log
    ) {
        self.server = server
        url = "http://\(address)"
        port = address.port
        self.downloads = downloads
        self.client = client
        condition = api.condition
        access = api.access
        self.tokenFile = tokenFile
        self.log = log
        heapTrimmer.start()
    }

    /// Starts everything, in this order: the data directory is locked, the store opened and what it knows loaded, transfers begin,
    /// and only then does it listen. Whoever gets an answer gets one from a service that is whole.
    /// - Throws: one clear line if it cannot start.
    public static func start(_ configuration: Configuration, log: Log) async throws(ServiceStartError) -> Service {
        var configuration = configuration
        try configuration.resolveToken()
        let client = try makeClient(configuration)
        let metrics = ServiceMetrics(receivedBytes: { client.receivedBytes })
        let downloads: DownloadService
        do throws(DownloadsStartError) {
            downloads = try await DownloadService(configuration: DownloadsConfiguration(configuration), client: client) { event in
                metrics.record(event)
                log.write(event)
            }
        } catch {
            client.shutdown()
            throw ServiceStartError(error.description)
        }
        let condition = ServiceCondition(dataDirectory: configuration.dataDirectory, started: .now)
        let catalog = Catalog(
            configuration: CatalogConfiguration(
                itunesURL: configuration.itunesURL, postsURL: configuration.postsURL), client: client)
        var settings = ServerConfiguration()
        settings.host = configuration.host
        settings.port = configuration.port
        settings.defaultFields = CrossOriginPolicy.defaultFields
        let descriptors = DescriptorBudget(descriptors: ProcessEnvironment.descriptorLimit, wanted: settings.limits)
        // What was kept may be more than what is given now.
        settings.limits = descriptors.fit(transfers: await downloads.settings)
        let api = API(
            configuration: configuration, downloads: downloads, catalog: catalog, condition: condition, metrics: metrics,
            log: log, descriptors: descriptors)
        let server = HTTPServer(configuration: settings, application: api)
        descriptors.attach(server)
        await downloads.start()
        do throws(ServerError) {
            let address = try server.start()
            condition.isReady = true
            return Service(
                server: server, address: address, downloads: downloads, client: client, api: api,
                tokenFile: configuration.tokenFile, log: log)
        } catch {
            await downloads.shutdown()
            client.shutdown()
            throw ServiceStartError(error.description)
        }
    }

    /// Turns `/readyz` to 503, and goes on answering: what balances the load sends no more, and nothing that was sent is lost.
    public func retire() {
        condition.isReady = false
    }

    /// Reads the token's file again. If it cannot be read, or holds no token, the old one stays.
    public func reloadToken() {
        guard let tokenFile else { return }
        do throws(ServiceStartError) {
            access.replaceToken(try AccessToken(readFrom: tokenFile))
            log.write(.info, "the token file is read again")
        } catch {
            log.write(.error, "the old token stays: \(error)")
        }
    }

    /// Ends everything in order: no new requests, those that are being answered finish, event streams end, transfers are
    /// checkpointed. Takes at most about `limit`.
    public func stop(within limit: Duration = .seconds(6)) async {
        retire()
        await server.shutdown(within: limit)
        await downloads.shutdown()
        client.shutdown()
        heapTrimmer.stop()
    }

    static func makeClient(_ configuration: Configuration) throws(ServiceStartError) -> HTTPClient {
        var settings = ClientConfiguration()
        settings.caFile = configuration.caFile
        settings.userAgent = "pawl/" + Help.version
        do throws(ClientError) {
            return try HTTPClient(configuration: settings)
        } catch {
            throw ServiceStartError(error.message)
        }
    }
}

/// Why the service does not start, in one line.
public struct ServiceStartError: Error, Sendable, CustomStringConvertible {
    /// The line.
    public let description: String

    /// Takes the line.
    public init(_ description: String) {
        self.description = UsageError(description).description
    }
}

extension Configuration {
    /// Reads the token's file, if there is one.
    /// - Throws: one line that says why there is no token in it.
    public mutating func resolveToken() throws(ServiceStartError) {
        if let tokenFile { token = try AccessToken(readFrom: tokenFile) }
    }
}

extension AccessToken {
    /// Reads a token from the first line of a file.
    init(readFrom path: String) throws(ServiceStartError) {
        let bytes: [UInt8]
        do throws(SmallFile.Failure) {
            bytes = try SmallFile.read(path, limit: 8192)
        } catch {
            throw ServiceStartError("token file: \(error)")
        }
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard let token = AccessToken(String(decoding: line, as: UTF8.self)) else {
            throw ServiceStartError(
                "token file \(path): its first line must be 1 to 4096 visible ASCII characters without spaces")
        }
        self = token
    }
}

extension DownloadsConfiguration {
    /// What of the configuration is about downloads.
    init(_ configuration: Configuration) {
        self.init(dataDirectory: configuration.dataDirectory, destinationGuard: configuration.destinationGuard)
        maxConcurrent = configuration.maxConcurrent
        maxPerHost = configuration.maxPerHost
        segments = configuration.segments
        speedLimit = configuration.speedLimit
        explicitSettings = configuration.explicitSettings
        webhookSecret = configuration.webhookSecret
        resource = \.encoded
    }
}
