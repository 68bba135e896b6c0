extension DemoUpstream {
    /// The configuration of the upstream.
    public struct Configuration: Sendable {
        /// The port on 127.0.0.1; 0 lets the system choose a free one.
        public var port: Int
        /// Bytes per second and connection for large files; 0 means unlimited. Previews, episodes and the archive's
        /// files get half of it. A request's `pace=` overrides it; other entities have no other limit.
        public var pace: Int64
        /// Receives a line for each request at its end, on a thread of the server. Pages and artwork are left out.
        public var log: (@Sendable (String) -> Void)?

        /// Creates a configuration. With the default pace of 1 MiB/s, 256 MiB over four connections take about a
        /// minute, which leaves time to pause. An album of the archive with four files at a time takes half a minute,
        /// and a preview two and a half seconds.
        public init(port: Int = 0, pace: Int64 = 1 << 20, log: (@Sendable (String) -> Void)? = nil) {
            self.port = port
            self.pace = pace
            self.log = log
        }
    }
}
