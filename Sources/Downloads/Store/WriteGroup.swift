/// What one transaction writes: the changes of several writers in order, without those that a later one of the same group
/// makes pointless.
struct WriteGroup: Sendable {
    /// The changes left, in order.
    private(set) var changes: [StoreChange] = []

    /// Puts the writers' changes together, and after them the latest notes of progress.
    init(_ writes: some BidirectionalCollection<[StoreChange]>, notes: some Collection<StoredProgress> = []) {
        var replaced: Set<DownloadID> = []
        var advanced: Set<DownloadID> = []
        // From the end: whoever is met first is the latest.
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
                case .set, .probe, .remember, .forget, .keepDelivery, .dropDelivery, .beginEpoch, .show, .enqueue, .leaveQueue,
                    .holdURL, .letGo, .claim, .send:
                    changes.append(change)
                }
            }
        }
        changes.reverse()
    }
}
