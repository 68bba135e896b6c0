public import HTTPClient
public import HTTPCore

/// Where the sources are, and every limit of the catalog.
public struct CatalogConfiguration: Sendable {
    /// Where sources are that are not where they usually are, by their ids. What they serve is appended to the path.
    public var bases: [String: HTTPURL]
    /// Checks where the sources are, and where they redirect to; nil: no guard.
    public var destinationGuard: DestinationGuard?
    /// How long a response is served from memory. Catalogues change daily; minutes save the upstream the repeats.
    public var timeToLive: Duration = .seconds(300)
    /// Most responses kept.
    public var cacheEntries = 256
    /// Most bytes of responses kept, estimated: a response of 200 results takes about a mebibyte.
    public var cacheBytes = 32 << 20
    /// Most requests within any minute to a source that has no pace of its own: Apple throttles at about 20.
    public var requestsPerMinute = 20
    /// How many services share that, each with as much of it as any other.
    public var replicas: @Sendable () -> Int = { 1 }
    /// How long a search waits for its turn before it is told to come back: as long as someone looks at a spinner, and so long that the
    /// pace of a source which may be asked every second is no refusal to somebody who looks around.
    public var longestTurn: Duration = .seconds(4)
    /// How long a source that throttled us is left alone, if it doesn't say; doubled each further time, up to ``longestBackoff``.
    public var backoff: Duration = .seconds(30)
    /// The most that a source is left alone, whatever it says.
    public var longestBackoff: Duration = .seconds(300)
    /// Most time for name, connection and TLS of a request to a source.
    public var connectTimeout: Duration = .seconds(5)
    /// Most time for a request to a source altogether.
    public var totalTimeout: Duration = .seconds(10)
    /// Most bytes of a response, decoded: 200 results take about 400 KiB, a work of 5,000 files about 2 MiB.
    public var bodyLimit = 8 << 20

    /// The default limits.
    public init(bases: [String: HTTPURL] = [:]) {
        self.bases = bases
    }
}
