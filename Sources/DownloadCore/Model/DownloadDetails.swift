internal import HTTPCore

/// Details of a download beyond ``Download``: its sources, its connections, and the options of its request.
public struct DownloadDetails: Sendable {
    /// A URL that the file is available from.
    public struct Source: Sendable, Equatable {
        /// The URL as the record has it.
        public var url: String
        /// Whether a connection to this URL is open or being opened.
        public var isUsed: Bool
    }

    /// A connection that is open or being opened.
    public struct Connection: Sendable, Equatable {
        /// The URL of its source.
        public var url: String
        /// The URL of its response, after redirects; before a response, the URL of its source.
        public var currentURL: String
        /// The speed over the last few seconds, in bytes per second.
        public var bytesPerSecond: Int64

        package init(url: String, currentURL: String, bytesPerSecond: Int64) {
            self.url = url
            self.currentURL = currentURL
            self.bytesPerSecond = bytesPerSecond
        }
    }

    /// The download at the time of these details.
    public var download: Download
    /// The URL, followed by the mirrors. The mirrors of a completed download are no longer recorded.
    public var sources: [Source]
    /// The connections of its transfer; empty without a transfer.
    public var connections: [Connection]
    /// The request header fields that cannot be secrets. A completed download's fields are no longer recorded.
    public var headers: [(name: String, value: String)]
    /// The file's name, if the client chose one.
    public var requestedFilename: String?
    /// The maximum number of connections, if the client chose one.
    public var requestedSegments: Int?

    /// Fields that describe the client and give access to nothing. Values of all other fields may be secrets.
    private static let openFields: Set<String> = [
        "accept", "accept-language", "cache-control", "dnt", "origin", "pragma", "referer", "user-agent",
    ]

    package init(_ download: Download, _ record: DownloadRecord, connections: [Connection]) {
        self.download = download
        self.connections = connections
        let used = Set(connections.map(\.url))
        sources = ([record.download.url] + record.mirrors).map { Source(url: $0, isUsed: used.contains($0)) }
        headers = record.headers.filter { Self.openFields.contains($0.name.lowercased()) }.map { header in
            // The address of a page may itself give access to the page.
            (header.name, HTTPURL.withoutSecrets(in: header.value))
        }
        requestedFilename = record.requestedFilename
        requestedSegments = record.requestedSegments
    }

    /// The details without the queries of URLs, for clients whose scope is not `full`.
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
