public import Downloads
public import HTTPClient

/// What of the configuration each part of the program gets.
extension Configuration {
    /// The client that downloads and searches use.
    /// - Throws: one line that says what is wrong with the bundle of certificates, or what the system lacks.
    public func makeClient() throws(StartError) -> HTTPClient {
        var settings = ClientConfiguration()
        settings.caFile = caFile
        settings.proxy = proxy
        settings.directDestinations = directDestinations
        settings.userAgent = Program.userAgent
        do throws(ClientError) {
            return try HTTPClient(configuration: settings)
        } catch {
            throw StartError(error.message)
        }
    }
}

extension DownloadsConfiguration {
    /// What of the configuration is about downloads.
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
        explicitSettings = configuration.explicitSettings
        minFree = configuration.minFree
        quota = configuration.quota
        retention = configuration.retention
    }
}
