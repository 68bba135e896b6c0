internal import DownloadCore
internal import DownloadIndex
internal import Downloads

/// The files that were not there when a feed listed their episodes.
extension SubscriptionService {
    /// Plans when origins are asked again for the files of a subscription.
    /// - Parameter earliest: The shortest wait.
    func planRequests(of id: RecordID, earliest: Duration = .zero) {
        guard let entry = entries[id] else { return }
        guard entry.subscription.state == .active else { return entry.requestsAt = nil }
        let now = downloads.now
        let label = entry.subscription.label
        var waits = failed(label).compactMap { $0.waitForFile(now) }
        // One that is in transfer may fail.
        if !downloads.index.page(ListQuery(states: [.queued, .downloading, .retrying], label: label, limit: 1)).items.isEmpty {
            waits.append(Limits.missingPause)
        }
        entry.requestsAt = waits.min().map { .now + max(.milliseconds($0), earliest) }
    }

    private func failed(_ label: String) -> [Download] {
        downloads.index.page(ListQuery(states: [.failed], label: label, limit: Limits.items)).items
    }

    /// Asks again for the files that are due, as a check, which ends before a change.
    func requestMissing(_ id: RecordID) async {
        do throws(DownloadError) {
            if let claim = try await claim(id, forced: false) {
                defer { endClaim(of: id) }
                try await requestMissing(id, under: claim)
            }
        } catch {
            // The next attempt does it.
        }
        planRequests(of: id, earliest: .milliseconds(Limits.missingPause))
        endCheck(of: id)
    }

    /// Asks again for files.
    /// - Parameter isRequested: Whether a user wants them now, due or not.
    func requestMissing(
        _ id: RecordID, under claim: SubscriptionClaim, isRequested: Bool = false
    ) async throws(DownloadError) {
        guard let subscription = entries[id]?.subscription, subscription.state == .active else { return }
        for download in failed(subscription.label) {
            guard let wait = download.waitForFile(downloads.now), isRequested || wait == 0, !Task.isCancelled else { continue }
            var query = ItemQuery(ofDownload: download.id)
            query.subscription = id
            query.includesBodies = false
            guard try await downloads.items(query).contains(where: { $0.isMade && $0.state == ItemState.taken.rawValue })
            else { continue }
            // A retry would forget the number of attempts.
            _ = try? await downloads.perform(.resume, on: download.id)
        }
    }
}
