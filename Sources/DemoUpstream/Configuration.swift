extension DemoUpstream {
    /// How the upstream is set up.
    public struct Configuration: Sendable {
        /// The address to listen on.
        public var host = "127.0.0.1"
        /// The port; 0 lets the system choose a free one.
        public var port = 0
        /// Bytes per second and connection for large files, 1 MiB by default: 256 MiB over four connections take about a minute, in which
        /// a reader of the tour gets to pausing them. Previews, which are small, go at half of it, so that theirs takes about two and a
        /// half seconds. 0 is no limit. A request's `pace=` goes first, and `/entity` has a pace only by that.
        public var pace: Int64 = 1 << 20
        /// Threads that serve connections.
        public var eventLoops = 1
        /// How many requests are kept for ``DemoUpstream/requests``.
        public var loggedRequests = 2_000
        /// Gets one line per request, at its end, on a thread of the server; pages and artwork are left out.
        public var log: (@Sendable (String) -> Void)?

        /// The defaults above.
        public init() {}

        /// The defaults above but for those given.
        public init(port: Int = 0, pace: Int64, log: (@Sendable (String) -> Void)? = nil) {
            self.port = port
            self.pace = pace
            self.log = log
        }
    }
}
