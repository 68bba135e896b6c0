internal import Catalog
internal import HTTPCore

/// The result of listing the work of a subscription.
enum CheckOutcome: Sendable {
    /// The listing has not changed since the last one (304).
    case unchanged(hint: Int64?)
    case listed(Listing)
    /// The feed has ended (410).
    case gone
    /// - Parameter retryAfter: The delay in seconds that the server asks for; `nil` for none.
    case failed(Subscription.Failure, retryAfter: Int64?)

    /// The reason to skip a work whose listing has no parts; `nil`: the source did not say that there are none, and the
    /// next check may list them.
    var skipReason: SkipReason? {
        guard case .failed(let failure, _) = self else { return .empty }
        return switch failure.problem {
        case .notFound, .invalidRequest: .empty
        case .destinationForbidden: .destinationForbidden
        default: nil
        }
    }

    /// A listing with what its source tells besides.
    struct Listing: Sendable {
        /// The items, newest first, each with another key.
        var items: [(listed: ListedItem, details: ItemDetails)]
        /// The name of the work; `nil` if it has none.
        var name: String?
        /// The work as a search result; `nil` for a search.
        var work: SearchItem?
        /// The address of the feed after permanent redirects; `nil` for other works.
        var address: HTTPURL?
        /// The validators for the next request; empty if the document broke off.
        var validators = Subscription.Validators()
        /// The interval that the feed or its server asks for, in seconds; `nil` for none.
        var hint: Int64?
        /// The page of the feed with which the next check continues, because it could not be read; `nil` for none.
        var nextPage: HTTPURL?
        /// The date of the newest item that is left out because there are too many; `nil` for none.
        var cut: Timestamp?
        /// Whether the document did not break off.
        var isComplete = true
        /// The faults despite which it was read, in sentences.
        var warnings: [String] = []
    }
}
