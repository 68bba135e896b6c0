internal import DownloadCore
internal import HTTPServer
internal import Synchronization
internal import System

/// The division of the process's descriptors between connections, files being served and transfers. It changes whenever
/// transfers may use more or fewer of them.
final class DescriptorBudget: Sendable {
    private struct Server {
        weak var value: HTTPServer?
    }

    private let descriptors: Int
    /// The limits without regard to descriptors.
    private let wanted: ServerLimits
    private let servedFiles: Atomic<Int>
    private let server = Locked(Server())

    /// - Parameters:
    ///   - descriptors: The process's limit of open descriptors.
    ///   - wanted: The limits without regard to descriptors.
    init(descriptors: Int, wanted: ServerLimits = ServerLimits()) {
        self.descriptors = descriptors
        self.wanted = wanted
        servedFiles = Atomic(wanted.files)
    }

    /// The maximum number of open files being served.
    var files: Int { servedFiles.load(ordering: .relaxed) }

    /// Sets the server that receives new limits.
    func attach(_ server: HTTPServer) {
        self.server.withLock { $0.value = server }
    }

    /// Divides the descriptors. Busy connections stay open. If there are too many, idle ones are closed or new ones
    /// refused.
    @discardableResult
    func fit(transfers settings: ServiceSettings) -> ServerLimits {
        var limits = wanted
        limits.fit(descriptors: descriptors, transfers: settings)
        servedFiles.store(limits.files, ordering: .relaxed)
        server.withLock { $0.value }?.limit(connections: limits.connections)
        return limits
    }
}
