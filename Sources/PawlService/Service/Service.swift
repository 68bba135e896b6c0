internal import Catalog
internal import DownloadCore
internal import Downloads
internal import HTTPClient
internal import HTTPServer
public import PawlConfiguration
internal import Subscriptions
internal import System

/// The running service: creates and connects all modules.
public final class Service: Sendable {
    /// The address on which it listens, as a URL such as `http://127.0.0.1:8080`.
    public let url: String
    /// The port on which it listens.
    public let port: Int

    private let server: HTTPServer
    let downloads: DownloadService
    private let client: HTTPClient
    let subscriptions: SubscriptionService
    private let condition: ServiceCondition
    private let access: AccessPolicy
    private let webhookSecrets: Locked<[WebhookSecret]>
    /// The initial configuration; the files that it names are read again on demand.
    private let configuration: Configuration
    private let heapTrimmer = HeapTrimmer()
    private let storeWatch: Task<Void, Never>
    private let log: Log

    /// The interval at which the service checks whether the disk is full, and the records in place.
    private static let watchInterval: Duration = .seconds(5)

    private init(
        server: HTTPServer, address: SocketAddress, downloads: DownloadService, client: HTTPClient,
        api: API, webhookSecrets: Locked<[WebhookSecret]>, configuration: Configuration, log: Log
    ) {
        self.server = server
        url = "http://\(address)"
        port = address.port
        self.downloads = downloads
        self.client = client
        subscriptions = api.subscriptions
        condition = api.condition
        access = api.access
        self.webhookSecrets = webhookSecrets
        self.configuration = configuration
        self.log = log
        storeWatch = Task {
            while (try? await Task.sleep(for: Self.watchInterval)) != nil { await downloads.watchStore() }
        }
        heapTrimmer.start()
    }

    deinit {
        storeWatch.cancel()
    }

    /// Starts the service: locks the data directory, loads the store, starts transfers, and only then listens. So every
    /// response comes from a complete service.
    /// - Parameters:
    ///   - configuration: The user's configuration.
    ///   - log: The log.
    ///   - losses: The number of leases that this process has lost before.
    ///   - fenced: Called, from any thread, when the replica has lost its lease: this service must then be stopped.
    ///   - displaced: Called, from any thread, when the open records will never work again: the process must end.
    /// - Throws: An error with one line of text if the service cannot start.
    public static func start(
        _ configuration: Configuration, log: Log, losses: UInt64 = 0, fenced: @escaping @Sendable () -> Void = {},
        displaced: @escaping @Sendable () -> Void = {}
    ) async throws(StartError) -> Service {
        var configuration = configuration
        try configuration.readToken()
        try configuration.checkToken()
        let tokens = try configuration.readTokensFile()
        try configuration.readWebhookSecrets()
        try configuration.readStore()
        let webhookSecrets = Locked(configuration.webhookSecrets)
        let client = try configuration.makeClient()
        let metrics = ServiceMetrics(fenced: losses, receivedBytes: { client.receivedBytes })
        let downloads: DownloadService
        do throws(DownloadsStartError) {
            let settings = configuration.downloads
            let webhooks = SignedWebhookSender(
                client: client, destinationGuard: settings.destinationGuard, secrets: webhookSecrets,
                linkPrefix: configuration.basePath)
            downloads = try await DownloadService(configuration: settings, client: client, webhooks: webhooks) { event in
                metrics.record(event)
                log.write(event)
                switch event {
                case .fenced: fenced()
                case .recordsGone: displaced()
                default: break
                }
            }
        } catch {
            client.shutdown()
            throw StartError(error.description)
        }
        let condition = ServiceCondition(
            downloadsDirectory: configuration.downloads.downloadsDirectory ?? configuration.downloads.dataDirectory, started: .now
        )
        var sources = CatalogConfiguration(configuration)
        sources.replicas = { downloads.fleetCondition?.replicas ?? 1 }
        let catalog = Catalog(configuration: sources, client: client)
        var settings = configuration.server
        settings.defaultFields = CrossOriginPolicy.defaultFields
        let descriptors = DescriptorBudget(descriptors: ProcessEnvironment.descriptorLimit, wanted: settings.limits)
        // The stored settings may differ from the configuration.
        settings.limits = descriptors.fit(transfers: await downloads.settings)
        let subscriptions = SubscriptionService(
            downloads: downloads, catalog: catalog, client: client, destinationGuard: configuration.downloads.destinationGuard,
            resource: { [linkPrefix = configuration.basePath] in $0.resource(linkPrefix) }
        ) { event in
            metrics.record(event)
            log.write(event)
        }
        let api = API(
            configuration: configuration, tokens: tokens, downloads: downloads, catalog: catalog, subscriptions: subscriptions,
            condition: condition,
            metrics: metrics,
            log: log, descriptors: descriptors)
        let server = HTTPServer(configuration: settings, application: api)
        descriptors.attach(server)
        downloads.markCrashes()
        await downloads.start()
        await subscriptions.start()
        do throws(ServerError) {
            let address = try server.start()
            if configuration.isOpenBehindProxy {
                log.write(
                    .warning,
                    "every client of the proxy has full access: set --token-file or --tokens-file, or --no-auth to permit this"
                )
            }
            if configuration.tokensFile != nil, tokens.isEmpty {
                log.write(.warning, "the tokens file contains no token, so it admits no client")
            }
            condition.isReady = true
            return Service(
                server: server, address: address, downloads: downloads, client: client, api: api,
                webhookSecrets: webhookSecrets, configuration: configuration, log: log)
        } catch {
            await downloads.shutdown()
            client.shutdown()
            throw StartError(error.description)
        }
    }

    /// Turns `/readyz` to 503 and continues to respond: load balancers send no new requests, and none in progress is
    /// lost.
    public func retire() {
        condition.isReady = false
    }

    /// Reads the files of secrets again. A file that is unreadable, malformed, empty or has too short a token leaves the
    /// old secrets in force. Streams and other responses for tokens that are no longer accepted end.
    public func reloadSecrets() {
        reloadToken()
        reloadTokens()
        server.endRevoked()
        reloadWebhookSecrets()
        reload(configuration.netrcFile, "netrc file", configuration.readNetrc) { $0.netrc = $1 }
        reload(configuration.cookieFile, "cookie file", configuration.readCookies) { $0.cookies = $1 }
        reload(configuration.headerFile, "header file", configuration.readHeaders) { $0.headers = $1 }
    }

    /// Reads a file of credentials for origins again.
    private func reload<Contents: Sendable>(
        _ path: String?, _ what: String, _ read: () throws(StartError) -> Contents,
        _ replace: @Sendable (inout OriginCredentials, Contents) -> Void
    ) {
        guard path != nil else { return }
        do throws(StartError) {
            let contents = try read()
            client.changeCredentials { replace(&$0, contents) }
            log.write(.info, "the \(what) is read again")
        } catch {
            log.write(.error, "the old \(what) remains in use: \(error)")
        }
    }

    private func reloadTokens() {
        guard configuration.tokensFile != nil else { return }
        do throws(StartError) {
            let tokens = try configuration.readTokensFile()
            let old = access.replace(listed: tokens)
            var values: [(name: String, value: Log.Value)] = [("tokens", .integer(Int64(tokens.count)))]
            let (before, now) = (Set(old), Set(tokens))
            let added = tokens.filter { !before.contains($0) }.map(\.name)
            let removed = old.filter { !now.contains($0) }.map(\.name)
            if !added.isEmpty { values.append(("added", .text(added.joined(separator: ",")))) }
            if !removed.isEmpty { values.append(("removed", .text(removed.joined(separator: ",")))) }
            if tokens.isEmpty, !old.isEmpty {
                log.write(.warning, "the tokens file is read again and contains no token, so it admits no client", values)
            } else {
                log.write(.info, "the tokens file is read again", values)
            }
        } catch {
            log.write(.error, "the old tokens remain valid: \(error)")
        }
    }

    private func reloadWebhookSecrets() {
        guard configuration.webhookSecretFile != nil else { return }
        do throws(StartError) {
            var configuration = configuration
            try configuration.readWebhookSecrets()
            webhookSecrets.withLock { $0 = configuration.webhookSecrets }
            log.write(.info, "the webhook secret file is read again")
        } catch {
            log.write(.error, "the old webhook secret remains in use: \(error)")
        }
    }

    private func reloadToken() {
        guard configuration.tokenFile != nil else { return }
        do throws(StartError) {
            var configuration = configuration
            try configuration.readToken()
            try configuration.checkToken()
            if let token = configuration.token { access.replace(own: token) }
            log.write(.info, "the token file is read again")
        } catch {
            log.write(.error, "the old token remains valid: \(error)")
        }
    }

    /// Ends the service in order: no new requests, requests in progress finish, event streams end, transfers are
    /// checkpointed. Takes at most about `limit`.
    public func stop(within limit: Duration = .seconds(6)) async {
        retire()
        storeWatch.cancel()
        let begun = ContinuousClock.now
        await server.shutdown(within: limit)
        await subscriptions.stop()
        // Container engines kill a process after 10 s.
        await downloads.shutdown(within: DownloadService.shutdownLimit - begun.duration(to: .now))
        client.shutdown()
        heapTrimmer.stop()
    }
}

extension CatalogConfiguration {
    /// The part of the configuration about searches. The operator has chosen the sources' hosts, so they are allowed;
    /// redirects are checked.
    fileprivate init(_ configuration: Configuration) {
        self.init(bases: [
            "itunes": configuration.itunesURL, "posts": configuration.postsURL, "archive": configuration.archiveURL,
        ])
        destinationGuard = configuration.downloads.destinationGuard.allowing(bases.values.map { DestinationRule($0) })
    }
}
