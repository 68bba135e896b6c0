import Glibc
import System

/// The settings of all transfers of a client. Each limit has its reason here.
public struct ClientConfiguration: Sendable {
    /// The number of threads that drive transfers, at least 1. One thread transfers more than a gigabyte per second
    /// without TLS; the second one is for TLS.
    public var threads = 2
    /// A PEM file with the trusted certificates; nil: the certificates that libcurl finds by default.
    public var caFile: String?
    /// The proxy for requests; nil: none, even if the environment names one.
    public var proxy: Proxy?
    /// Destinations that are requested directly although there is a proxy.
    public var directDestinations: [DestinationRule] = []
    /// The User-Agent of requests without one.
    public var userAgent = "pawl"
    /// The user agent and the credentials of requests for origins; ``HTTPClient/changeCredentials(_:)`` changes them.
    public var credentials = OriginCredentials()
    /// The maximum bytes of response heads in one exchange, interim responses included. Servers send a few hundred
    /// bytes to some KiB; browsers have a limit of 256 KiB.
    public var maximumHeadBytes = 128 * 1024
    /// The maximum bytes per read from a socket, 16 KiB to 10 MiB. A larger buffer means fewer system calls, but more
    /// memory for each transfer. Measured with a body of 2 GiB into a file, 16 KiB costs twice the processor time of
    /// 256 KiB. More than 256 KiB saves little.
    public var receiveBufferBytes = 256 * 1024
    /// The maximum number of idle connections that each thread keeps for reuse; nil: 32, or fewer if the process may have
    /// less than 1,024 descriptors when the client is created.
    public var idleConnectionsPerThread: Int?
    /// The maximum bytes of a redirect's own body that are read so that its connection can be reused.
    public var maximumRedirectBodyBytes = 64 * 1024

    /// Creates the default configuration.
    public init() {}
}

extension ClientConfiguration {
    /// Checks that the CA file can be read. So the error is reported at the start, with a clear message, instead of at
    /// every transfer.
    func check() throws(ClientError) {
        guard let caFile else { return }
        guard unsafe access(caFile, R_OK) == 0 else {
            throw .tls("the CA file \(caFile) cannot be read: \(SystemError.last)")
        }
    }
}
