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
        var replaced: Set<RecordID> = []
        var advanced: Set<RecordID> = []
        // Goes backwards, so that the first change found for a download is the latest.
        for progress in notes where advanced.insert(progress.id).inserted {
            changes.append(.progress(progress))
        }
        for write in writes.reversed() {
            for change in write.reversed() {
                if let id = change.recordID {
                    let isProgress = if case .progress = change { true } else { false }
                    if replaced.contains(id) || isProgress && !advanced.insert(id).inserted { continue }
                    if !isProgress { replaced.insert(id) }
                }
                changes.append(change)
            }
        }
        changes.reverse()
    }
}

extension StoreChange {
    /// The download whose record the change adds, replaces or removes; `nil` for other changes.
    var recordID: RecordID? {
        switch self {
        case .add(let record), .save(let record): record.id
        case .progress(let progress): progress.id
        case .remove(let id, _): id
        case .set, .probe, .remember, .forget, .keepDelivery, .dropDelivery, .beginEpoch, .subscription, .fleet: nil
        }
    }
}
