internal import Downloads
internal import HTTPServer

extension ServerLimits {
    /// Lowers the number of connections to what the process has descriptors for. Were clients able to take the last one, downloads
    /// would fail for want of a file to write to, and libdispatch ends the process when it cannot open a file of `/proc`.
    ///
    /// Set aside are those of the transfers (a socket for each segment, the part file, its finished form and its directory) and of
    /// everything else the process opens, at most half of all. Of the rest, connections have two thirds, and the files that are being
    /// served through them the last: a request for one too many gets a 503.
    mutating func fit(descriptors: Int, transfers settings: ServiceSettings) {
        let transfers = settings.maxConcurrent * (settings.segments + 3)
        let available = descriptors - min(128 + transfers, descriptors / 2)
        refusedConnections = min(refusedConnections, available / 8)
        let shared = available - refusedConnections
        connections = min(connections, max(1, shared / 3 * 2))
        files = min(files, max(1, shared - connections))
    }
}
