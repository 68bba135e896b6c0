internal import Downloads
internal import HTTPServer
internal import Synchronization
internal import System

/// What the process's descriptors allow: connections, and files that are being served. Divided anew whenever transfers may take
/// more or fewer of them.
final class DescriptorBudget: Sendable {
    private struct Server {
        weak var value: HTTPServer?
    }

    private let descriptors: Int
    /// What there would be if descriptors were no matter.
    private let wanted: ServerLimits
    private let servedFiles: Atomic<Int>
    private let server = Locked(Server())

    /// - Parameters:
    ///   - descriptors: what the process may hold open.
    ///   - wanted: the limits if that were no matter.
    init(descriptors: Int, wanted: ServerLimits = ServerLimits()) {
        self.descriptors = descriptors
        self.wanted = wanted
        servedFiles = Atomic(wanted.files)
    }

    /// Files that may be open for being served.
    var files: Int { servedFiles.load(ordering: .relaxed) }

    /// The server that new limits are set on.
    func attach(_ server: HTTPServer) {
        self.server.withLock { $0.value = server }
    }

    /// Divides the descriptors. What is busy stays open: if there are too many, idle ones give way, or the next ones are refused.
    @discardableResult
    func fit(transfers settings: ServiceSettings) -> ServerLimits {
        var limits = wanted
        limits.fit(descriptors: descriptors, transfers: settings)
        servedFiles.store(limits.files, ordering: .relaxed)
        server.withLock { $0.value }?.limit(connections: limits.connections)
        return limits
    }
}
