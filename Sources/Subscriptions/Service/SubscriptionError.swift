public import DownloadCore
public import HTTPCore

/// A refusal of a request about subscriptions.
public enum SubscriptionError: Error, Sendable, Equatable {
    /// There is no such subscription.
    case notFound
    /// The subscription has no such item.
    case itemNotFound
    /// The state of the item does not allow the command. The text is a sentence.
    case illegalTransition(from: ItemState, String)
    /// A value is not acceptable. The text names the value and the accepted ones.
    case invalid(String)
    /// The source of a work does not list its parts at present. The text is a sentence.
    case unlisted(String)
    /// The guard of destinations refuses the address of the feed.
    case destinationForbidden(String)
    /// The subscription has changed, so that it does not meet the request's precondition.
    case preconditionFailed
    /// The downloads, or the store, refuse the change.
    case refused(DownloadError)
}

extension SubscriptionError: ProblemCause {
    /// The problem that a client sees.
    public var problem: Problem {
        switch self {
        case .notFound: Problem(.notFound, "there is no such subscription")
        case .itemNotFound: Problem(.notFound, "the subscription has no such item")
        case .illegalTransition(let state, let reason): Problem(.illegalTransition, reason, state: state.rawValue)
        case .invalid(let reason): Problem(.invalidRequest, reason)
        case .unlisted(let reason): Problem(.upstreamRejected, reason)
        case .destinationForbidden(let reason): DownloadError.destinationForbidden(reason).problem
        case .preconditionFailed:
            Problem(.preconditionFailed, "the version of the subscription does not meet If-Match or If-None-Match")
        case .refused(let error): error.problem
        }
    }
}
