import HTTPCore
import Synchronization

/// An HTTP/1.1 client for many transfers at once, on a few threads.
///
/// It uses libcurl's multi interface, but follows redirects by its own rules. A ``DestinationGuard`` can check each
/// address of a connection. Cookies last for one transfer. The configuration has the credentials and the
/// proxy: the client reads no file.
public final class HTTPClient: Sendable {
    private let loops: [TransferLoop]
    private let credentials: CredentialStore

    /// Creates a client. Its threads start with the first transfers.
    /// - Throws: ``ClientError/tls(_:)`` if the CA file cannot be read.
    public init(configuration: ClientConfiguration = ClientConfiguration()) throws(ClientError) {
        try configuration.check()
        let credentials = CredentialStore(configuration.credentials)
        let failedHosts = FailedHosts()
        loops = (0..<max(1, configuration.threads)).map { _ in
            TransferLoop(configuration: configuration, credentials: credentials, failedHosts: failedHosts)
        }
        self.credentials = credentials
    }

    deinit {
        shutdown()
    }

    /// The bytes of bodies that sinks have received, over all transfers.
    public var receivedBytes: UInt64 {
        loops.reduce(0) { $0 &+ $1.received.load(ordering: .relaxed) }
    }

    /// Changes the credentials for origins. Requests that begin later have the new ones.
    public func changeCredentials(_ change: @Sendable (inout OriginCredentials) -> Void) {
        credentials.change(change)
    }

    /// Starts a transfer into a sink, and returns immediately. `sink.finished` is called exactly once, in all cases.
    @discardableResult
    public func start(_ request: ClientRequest, sink: any TransferSink) -> TransferHandle {
        let transfer = Transfer(request: request, loop: loop(for: request))
        submit(transfer, sink: sink)
        return TransferHandle(transfer: transfer)
    }

    /// Cancels all transfers and ends the threads. Every sink has received its end when this returns. Only if a sink
    /// calls it, the ends follow later, on that sink's thread. Transfers that are started later finish immediately as
    /// cancelled.
    public func shutdown() {
        for loop in loops { loop.stop() }
    }

    func submit(_ transfer: Transfer, sink: any TransferSink) {
        transfer.loop.load.add(1, ordering: .relaxed)
        do throws(ClientError) {
            try transfer.loop.start(transfer, sink)
        } catch {
            transfer.loop.load.subtract(1, ordering: .relaxed)
            sink.finished(.failure(error))
        }
    }

    /// The loop with the fewest transfers. Of equal loops, an origin always gets the same one, which may have idle
    /// connections to it.
    func loop(for request: ClientRequest) -> TransferLoop {
        let first = Int(UInt(bitPattern: request.url.host.hashValue &+ request.url.port) % UInt(loops.count))
        var best = loops[first]
        var least = best.load.load(ordering: .relaxed)
        for loop in loops {
            let load = loop.load.load(ordering: .relaxed)
            if load < least { (best, least) = (loop, load) }
        }
        return best
    }
}
