import HTTPCore
import Synchronization

/// An HTTP/1.1 client for many transfers at once, on a few threads.
///
/// It carries requests out over libcurl's multi interface, follows redirects by its own rules, and lets a ``DestinationGuard`` check
/// each address that is connected to. Cookies last for one transfer; it reads no `.netrc` and uses no proxy but the configuration's.
public final class HTTPClient: Sendable {
    private let loops: [TransferLoop]

    /// Starts the threads. Throws ``ClientError/tls(_:)`` if the CA file cannot be read, ``ClientError/connectionFailed(_:)`` if
    /// the system has no threads or memory left.
    public init(configuration: ClientConfiguration = ClientConfiguration()) throws(ClientError) {
        try configuration.check()
        var loops: [TransferLoop] = []
        do {
            for _ in 0..<max(1, configuration.threads) { loops.append(try TransferLoop(configuration: configuration)) }
        } catch {
            for loop in loops { loop.stop() }
            throw error
        }
        self.loops = loops
    }

    deinit {
        shutdown()
    }

    /// Bytes of bodies that sinks have received, over all transfers.
    public var receivedBytes: UInt64 {
        loops.reduce(0) { $0 &+ $1.received.load(ordering: .relaxed) }
    }

    /// Starts a transfer into a sink, and returns at once. `sink.finished` is called exactly once, whatever happens.
    @discardableResult
    public func start(_ request: ClientRequest, sink: any TransferSink) -> TransferHandle {
        let transfer = Transfer(request: request, loop: loop(for: request))
        submit(transfer, sink: sink)
        return TransferHandle(transfer: transfer)
    }

    /// Cancels all transfers and ends the threads. When it returns, every sink has been told, except when it is called from a sink
    /// itself: then the rest follows on that thread. Transfers that are started later finish as cancelled at once.
    public func shutdown() {
        for loop in loops { loop.stop() }
    }

    func submit(_ transfer: Transfer, sink: any TransferSink) {
        transfer.loop.load.add(1, ordering: .relaxed)
        if !transfer.loop.post(.start(transfer, sink)) {
            transfer.loop.load.subtract(1, ordering: .relaxed)
            sink.finished(.failure(.cancelled))
        }
    }

    /// The loop with the least to do. Among equals an origin always meets the same one, where its idle connections are.
    func loop(for request: ClientRequest) -> TransferLoop {
        let first = Int(UInt(bitPattern: request.url.origin.hashValue) % UInt(loops.count))
        var best = loops[first]
        var least = best.load.load(ordering: .relaxed)
        for loop in loops {
            let load = loop.load.load(ordering: .relaxed)
            if load < least { (best, least) = (loop, load) }
        }
        return best
    }
}
