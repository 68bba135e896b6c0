internal import DownloadCore

/// The changes of one transaction. They come from several writes, in order, without those that a later change of the
/// group replaces.
struct WriteGroup: Sendable {
    /// The remaining changes, in order.
    package private(set) var changes: [StoreChange] = []

    /// Joins the changes of all writes, and appends the latest notes of progress.
    init(_ writes: some BidirectionalCollection<[StoreChange]>, notes: some Collection<StoredProgress> = []) {
        // The changes of one write rarely replace each other.
        if writes.count == 1, notes.isEmpty, let write = writes.first {
            changes = write
            return
        }
        var replaced: Set<DownloadID> = []
        var advanced: Set<DownloadID> = []
        // Goes backwards, so that the first change found for a download is the latest.
        for progress in notes where advanced.insert(progress.id).inserted {
            changes.append(.progress(progress))
        }
        for write in writes.reversed() {
            for change in write.reversed() {
                switch change {
                case .add(let record), .save(let record):
                    if replaced.insert(record.id).inserted { changes.append(change) }
                case .remove(let id, _):
                    if replaced.insert(id).inserted { changes.append(change) }
                case .progress(let progress):
                    guard !replaced.contains(progress.id) else { continue }
                    if advanced.insert(progress.id).inserted { changes.append(change) }
                case .set, .probe, .remember, .forget, .keepDelivery, .dropDelivery, .saveSubscription, .removeSubscription,
                    .saveItem, .dropItem, .requireClaim, .endClaim, .beginEpoch, .publishVersion, .enqueue, .leaveQueue, .holdURL,
                    .release, .claim,
                    .send:
                    changes.append(change)
                }
            }
        }
        changes.reverse()
    }
}
