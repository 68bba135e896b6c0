internal import System

/// Which targets are being transferred at the moment, for the fault that allows one connection.
final class Transfers: Sendable {
    private let open = Locked<Set<String>>([])

    /// A place for a transfer of that target, or nil while another one has it.
    func lease(_ target: String) -> TransferLease? {
        let isFree = open.withLock { $0.insert(target).inserted }
        return isFree ? TransferLease(target: target, transfers: self) : nil
    }

    fileprivate func end(_ target: String) {
        open.withLock { _ = $0.remove(target) }
    }
}

/// A transfer's place, given back when nobody holds this any more.
final class TransferLease: Sendable {
    private let target: String
    private let transfers: Transfers

    fileprivate init(target: String, transfers: Transfers) {
        self.target = target
        self.transfers = transfers
    }

    deinit { transfers.end(target) }
}
