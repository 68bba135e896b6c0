public import HTTPClient
public import HTTPCore

/// The base URLs of the sources, and every limit of the catalogue.
public struct CatalogConfiguration: Sendable {
    /// Base URLs that differ from the sources' own, by source id. The paths of requests are appended.
    public var bases: [String: HTTPURL]
    /// The guard of requests to the sources and their redirects; `nil` for no guard.
    public var destinationGuard: DestinationGuard?
    /// The time for which a listing is kept. Catalogues change daily; minutes avoid repeated requests.
    public var timeToLive: Duration = .seconds(300)
    /// The maximum number of listings in memory.
    public var cacheEntries = 256
    /// The maximum estimated bytes of listings in memory: a listing of 200 results takes about a mebibyte.
    public var cacheBytes = 32 << 20
    /// The maximum number of requests in any minute to a source without a pace of its own: Apple throttles at about 20.
    public var requestsPerMinute = 20
    /// The number of replicas that share this limit equally.
    public var replicas: @Sendable () -> Int = { 1 }
    /// The maximum wait of a search for the rate budget; a search that would wait longer is refused. Users accept a
    /// wait of that length. At a pace of one request a second, a few quick searches are not refused.
    public var longestWait: Duration = .seconds(4)
    /// The delay after a source throttled a request without naming a delay. It doubles each further time, up to
    /// ``longestBackoff``.
    public var backoff: Duration = .seconds(30)
    /// The maximum delay after throttling, also if the source asks for more.
    public var longestBackoff: Duration = .seconds(300)
    /// The time limit for name, connection and TLS of a request to a source.
    public var connectTimeout: Duration = .seconds(5)
    /// The time limit for a whole request to a source.
    public var totalTimeout: Duration = .seconds(10)
    /// The time limit for a whole request to a host that the caller names.
    public var feedTimeout: Duration = .seconds(30)
    /// The maximum size in bytes of a decoded response: 200 results take about 400 KiB, a work of 5,000 files about 2
    /// MiB.
    public var bodyLimit = 8 << 20

    /// Creates a configuration with the default limits.
    public init(bases: [String: HTTPURL] = [:]) {
        self.bases = bases
    }
}
