/// The type of a message to a webhook.
public enum WebhookMessageType: String, Sendable, CaseIterable {
    /// A download is completed; the next two types are about its other ends.
    case downloadCompleted = "download.completed"
    case downloadFailed = "download.failed"
    case downloadCancelled = "download.cancelled"
    /// The first failed check of a subscription since the last success.
    case subscriptionFailed = "subscription.failed"
    /// An impairment of the service has begun.
    case serviceDegraded = "service.degraded"
    /// A message that a user sends to see whether it arrives.
    case test = "webhook.test"

    /// The types that the operator can select for default webhooks.
    public static let selectable = allCases.filter { $0 != .test }

    /// The type of the message about an ended download.
    package init(endOf download: Download) {
        self =
            switch download.state {
            case .failed: .downloadFailed
            case .cancelled: .downloadCancelled
            case .completed, .queued, .downloading, .paused, .retrying: .downloadCompleted
            }
    }
}
