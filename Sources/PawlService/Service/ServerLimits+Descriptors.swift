internal import HTTPServer

extension ServerLimits {
    /// Lowers the number of connections to what the process has descriptors for. Were clients able to take the last one, downloads
    /// would fail for want of a file to write to, and libdispatch ends the process when it cannot open a file of `/proc`.
    ///
    /// Set aside are those of the transfers (a socket for each segment, the part file, its finished form and its directory) and of
    /// everything else the process opens, at most half of all. Of the rest, a connection may take two: its socket, and a file.
    mutating func fit(descriptors: Int, transfers configuration: Configuration) {
        let transfers = configuration.maxConcurrent * (configuration.segments + 3)
        let available = descriptors - min(128 + transfers, descriptors / 2)
        refusedConnections = min(refusedConnections, available / 8)
        connections = min(connections, max(1, (available - refusedConnections) / 2))
    }
}
