public import Downloads
public import HTTPClient

/// The parts of the configuration for the modules of the program.
extension Configuration {
    /// Creates the client for downloads, searches and webhooks.
    /// - Throws: An error with one line of text if the certificate bundle or a file of credentials is invalid, or the
    ///   system lacks something.
    public func makeClient() throws(StartError) -> HTTPClient {
        var settings = ClientConfiguration()
        settings.caFile = caFile
        settings.proxy = proxy
        settings.directDestinations = directDestinations
        settings.userAgent = Program.userAgent
        settings.credentials = try readCredentials()
        do throws(ClientError) {
            return try HTTPClient(configuration: settings)
        } catch {
            throw StartError(error.message)
        }
    }
}

extension DownloadsConfiguration {
    /// The part of the configuration about downloads.
    public init(_ configuration: Configuration) {
        self.init(dataDirectory: configuration.dataDirectory, destinationGuard: configuration.destinationGuard)
        claimedDirectory = configuration.claimedDirectory
        downloadsDirectory = configuration.downloadsDirectory
        database = configuration.store
        if let location = configuration.objects, let credentials = configuration.objectCredentials {
            objects = (location, credentials)
        }
        lease = configuration.lease
        leavesFleet = configuration.leavesFleet
        filePermissions = configuration.filePermissions
        maxConcurrent = configuration.maxConcurrent
        maxPerHost = configuration.maxPerHost
        segments = configuration.segments
        speedLimit = configuration.speedLimit
        speedSchedule = configuration.speedSchedule
        webhooks = configuration.webhooks
        webhookTypes = Set(configuration.webhookTypes)
        explicitSettings = configuration.explicitSettings
        connectTimeout = configuration.connectTimeout
        headTimeout = configuration.responseTimeout
        stallTimeout = configuration.stallTimeout
        retry = configuration.retry
        remoteTime = configuration.remoteTime
        usesAnnouncedMirrors = !configuration.ignoresAnnouncedMirrors
        minFree = configuration.minFree
        quota = configuration.quota
        retention = configuration.retention
    }
}
