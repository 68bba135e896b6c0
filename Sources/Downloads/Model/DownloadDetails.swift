internal import HTTPCore

/// What is known of a download beyond what it shows: where its bytes come from, and what was asked for.
public struct DownloadDetails: Sendable {
    /// A URL that it can be had from.
    public struct Source: Sendable, Equatable {
        /// As it was given.
        public var url: String
        /// Whether a connection is open to it.
        public var isUsed: Bool
    }

    /// A connection that is open or being opened.
    public struct Connection: Sendable, Equatable {
        /// The source that it is for.
        public var url: String
        /// Where its response came from, after redirects.
        public var currentURL: String
        /// What it brings, over the last few seconds.
        public var bytesPerSecond: Int64
    }

    /// The download, as it stood then.
    public var download: Download
    /// Its URL, then its mirrors, which one that is completed has forgotten.
    public var sources: [Source]
    /// Those of its transfer, if it has one.
    public var connections: [Connection]
    /// Fields to send along, but for those that may be secrets; one that is completed has forgotten all.
    public var headers: [(name: String, value: String)]
    /// The file's name, if the client chose one.
    public var requestedFilename: String?
    /// Most connections, if the client said.
    public var requestedSegments: Int?
    /// Which bytes have arrived: ranges in order of position, of which no two touch, and every byte of them is there. At most
    /// ``rangeLimit``; where there are more, the smallest ranges are left out.
    public var coverage: [Range<Int64>]

    /// The most ranges of ``coverage``.
    public static let rangeLimit = 4096

    /// Fields that tell of the client, and let nobody in. Whatever else may be a secret.
    private static let openFields: Set<String> = [
        "accept", "accept-language", "cache-control", "dnt", "origin", "pragma", "referer", "user-agent",
    ]

    init(_ download: Download, _ record: DownloadRecord, coverage: Coverage, connections: [Connection]) {
        self.download = download
        self.connections = connections
        let used = Set(connections.map(\.url))
        sources = ([record.download.url] + record.mirrors).map { Source(url: $0, isUsed: used.contains($0)) }
        headers = record.headers.filter { Self.openFields.contains($0.name.lowercased()) }.map { header in
            // A page's address may be one that lets in.
            (header.name, HTTPURL.withoutSecrets(in: header.value))
        }
        requestedFilename = record.requestedFilename
        requestedSegments = record.requestedSegments
        let isWhole = download.state == .completed && download.bytesReceived > 0
        self.coverage = isWhole ? [0..<download.bytesReceived] : coverage.core(atMost: Self.rangeLimit)
    }

    /// The same without what may be secret in URLs: for whoever may see it, but could not have fetched it.
    public var withoutSecrets: DownloadDetails {
        var shown = self
        shown.download = download.withoutSecrets
        for index in sources.indices { shown.sources[index].url = HTTPURL.withoutSecrets(in: sources[index].url) }
        for index in connections.indices {
            shown.connections[index].url = HTTPURL.withoutSecrets(in: connections[index].url)
            shown.connections[index].currentURL = HTTPURL.withoutSecrets(in: connections[index].currentURL)
        }
        return shown
    }
}
