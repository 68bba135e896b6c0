internal import DownloadCore
internal import HTTPServer

extension ServerLimits {
    /// Lowers the limits to the descriptors of the process. If clients could use the last descriptor, downloads would
    /// fail to open files, and libdispatch ends the process when it cannot open a file of `/proc`.
    ///
    /// Descriptors are set aside for transfers (a socket for each segment, the part file, the finished file and its
    /// directory), for files that are verified, for both reserves (``ProcessEnvironment/descriptorReserve``) and for
    /// everything else the process opens, at most half of all. Connections get two thirds of the rest, and files being
    /// served get the last third. A request for a file beyond the limit gets a 503.
    mutating func fit(descriptors: Int, transfers settings: ServiceSettings) {
        let transfers = settings.maxConcurrent * (settings.segments + 3) + min(256, descriptors / 16)
        let available = descriptors - min(64 + 2 * min(64, descriptors / 16) + transfers, descriptors / 2)
        refusedConnections = min(refusedConnections, available / 8)
        let shared = available - refusedConnections
        connections = min(connections, max(1, shared / 3 * 2))
        files = min(files, max(1, shared - connections))
    }
}
