import Glibc
import System

/// What holds for all transfers of a client. All limits of the client are here, each with its reason.
public struct ClientConfiguration: Sendable {
    /// How many threads drive transfers, at least 1. One moves more than a gigabyte per second without TLS; the second one is for TLS.
    public var threads = 2
    /// A PEM file with the certificates to trust instead of the system's; nil: those that libcurl was built to find.
    public var caFile: String?
    /// What requests are sent through; nil: nothing, whatever the environment says.
    public var proxy: Proxy?
    /// Destinations that are asked directly, although there is a proxy.
    public var directDestinations: [DestinationRule] = []
    /// The User-Agent of requests that bring none of their own.
    public var userAgent = "pawl"
    /// The most bytes of response heads in one exchange, interim responses included. Servers send a few hundred bytes to some KiB;
    /// browsers stop at 256 KiB.
    public var maximumHeadBytes = 128 * 1024
    /// The most bytes read from a socket at once, 16 KiB to 10 MiB. Larger means fewer system calls, and this much memory for each transfer.
    /// Measured with one body of 2 GiB into a file: 16 KiB costs twice the processor time of 256 KiB, more than that saves little.
    public var receiveBufferBytes = 256 * 1024
    /// How many idle connections each thread keeps for reuse.
    public var idleConnectionsPerThread = 32
    /// The most bytes of a redirect's own body that are read so that its connection can be used again.
    public var maximumRedirectBodyBytes = 64 * 1024

    /// The defaults.
    public init() {}
}

extension ClientConfiguration {
    /// Throws if the CA file cannot be read: better now, with a clear message, than at every transfer.
    func check() throws(ClientError) {
        guard let caFile else { return }
        guard unsafe access(caFile, R_OK) == 0 else {
            throw .tls("the CA file \(caFile) cannot be read: \(SystemError.last)")
        }
    }
}
