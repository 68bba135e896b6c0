internal import DownloadCore
internal import PawlConfiguration
internal import Subscriptions

extension Log {
    /// Writes an event of the subscriptions. Queries of addresses may be secrets, so they are left out.
    func write(_ event: SubscriptionLogEvent) {
        switch event {
        case .checked(_, taken: 0): break
        case .checked(let subscription, let taken):
            write(
                .info, "a subscription has new items",
                [("subscription", .text(subscription.id.description)), ("items", .integer(Int64(taken)))])
        case .failed(let subscription):
            // Operators are notified of the first failure of an outage.
            write(
                subscription.failures == 1 ? .warning : .debug, "a subscription cannot be checked",
                [
                    ("subscription", .text(subscription.id.description)),
                    ("failures", .integer(Int64(subscription.failures))),
                    ("error", .text(subscription.failure?.code ?? "")),
                    ("reason", .text(subscription.failure?.message ?? "")),
                ])
        case .warning(let text): write(.warning, text)
        }
    }
}
