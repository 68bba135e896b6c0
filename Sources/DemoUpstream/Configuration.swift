extension DemoUpstream {
    /// How the upstream is set up.
    public struct Configuration: Sendable {
        /// The port on 127.0.0.1; 0 lets the system choose a free one.
        public var port: Int
        /// Bytes per second and connection for large files. Previews, episodes and the archive's files get half of it. 0 is no limit.
        /// A request's `pace=` overrides it; other entities have no pace but that.
        public var pace: Int64
        /// Gets one line per request, at its end, on a thread of the server; pages and artwork are left out.
        public var log: (@Sendable (String) -> Void)?

        /// With the default pace of 1 MiB/s, 256 MiB over four connections take about a minute, enough time to pause them, an album
        /// of the archive by four files at a time half of one, and a preview two and a half seconds.
        public init(port: Int = 0, pace: Int64 = 1 << 20, log: (@Sendable (String) -> Void)? = nil) {
            self.port = port
            self.pace = pace
            self.log = log
        }
    }
}
