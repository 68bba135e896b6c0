internal import HTTPCore

extension DownloadService {
    /// The message that tells a download's webhook of its end; `nil` if it has not ended, or nobody wants to know.
    func delivery(of record: DownloadRecord) -> WebhookDelivery? {
        guard !record.download.state.isLive, let url = record.webhook, let body = configuration.resource else { return nil }
        var random = SystemRandom()
        let now = Timestamp.now()
        return WebhookDelivery(
            id: identifiers.next(now: now, using: &random), downloadID: record.id, url: url, body: body(record.download), due: now
        )
    }

    /// Writes changes, and with them the message that one of them causes. It is sent once they are on disk.
    func submit(_ changes: [StoreChange], telling delivery: WebhookDelivery?) -> StoreCommit {
        guard let delivery else { return store.submit(changes) }
        let commit = store.submit(changes + [.keepDelivery(delivery)])
        Task { [courier] in await courier.post(delivery, after: commit) }
        return commit
    }
}
