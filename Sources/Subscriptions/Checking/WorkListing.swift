internal import Catalog
internal import HTTPCore

/// Lists the works of catalogues for checks.
enum WorkListing {
    /// Lists the parts of a work.
    /// - Parameter formats: The formats; empty for those that the source prefers.
    @concurrent static func parts(of id: String, formats: [String], in catalog: Catalog) async -> CheckOutcome {
        do throws(CatalogError) {
            let work = try await catalog.work(for: PartsQuery(id: id, formats: formats), isFresh: true)
            let parts = try work.allParts(formats: formats)
            var listing = CheckOutcome.Listing(items: items(parts))
            listing.name = work.item.name
            listing.work = work.item
            return .listed(listing)
        } catch {
            return CheckOutcome(error)
        }
    }

    /// Lists the newest results of a search.
    @concurrent static func results(of term: String, in catalog: Catalog) async -> CheckOutcome {
        do throws(CatalogError) {
            let found = try await catalog.newest(term)
            return .listed(CheckOutcome.Listing(items: items(found.items)))
        } catch {
            return CheckOutcome(error)
        }
    }

    private static func items(_ parts: [SearchItem]) -> [(listed: ListedItem, details: ItemDetails)] {
        ItemDetails.items(parts, identity: \.id).map { listed, details in
            var listed = listed
            // The date of a work is the date of its making. The order of the listing tells which one is new.
            listed.date = nil
            listed.isNamedByAddress = false
            return (listed, details)
        }
    }
}

extension CheckOutcome {
    /// The failure of a listing.
    init(_ error: CatalogError) {
        var failure = Subscription.Failure(problem: error.problem.code, message: error.problem.detail)
        var delay: Int64?
        switch error {
        case .upstreamRejected(_, let status): failure.httpStatus = status
        case .upstreamRateLimited(let wait, let status):
            failure.message = "The limit of requests to the source is reached."
            (failure.httpStatus, delay) = (status, wait.components.seconds + 1)
        case .superseded, .cancelled: failure = Subscription.Failure(problem: .unavailable, message: "The check was cancelled.")
        default: break
        }
        self = .failed(failure, retryAfter: delay)
    }
}
