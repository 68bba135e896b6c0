internal import Catalog
internal import HTTPCore
internal import System

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
            return failure(error)
        }
    }

    /// Lists the newest results of a search.
    @concurrent static func results(of term: String, in catalog: Catalog) async -> CheckOutcome {
        do throws(CatalogError) {
            let found = try await catalog.newest(term)
            return .listed(CheckOutcome.Listing(items: items(found.items)))
        } catch {
            return failure(error)
        }
    }

    private static func items(_ parts: [SearchItem]) -> [(listed: ListedItem, details: ItemDetails)] {
        var seen: Set<String> = []
        return parts.compactMap { item in
            guard let id = item.id else { return nil }
            let key = String(Hexadecimal.encode(SHA256.digest(of: Array(id.utf8))).prefix(32))
            guard seen.insert(key).inserted else { return nil }
            let details = ItemDetails(item)
            var listed = details.listed(key: key)
            // The date of a work is that of its making. The order of the listing tells which one is new.
            listed.date = nil
            return (listed, details)
        }
    }

    private static func failure(_ error: CatalogError) -> CheckOutcome {
        let (code, message) =
            switch error {
            case .invalidRequest(let text): ("invalid-request", text)
            case .notFound(let text): ("not-found", text)
            case .destinationForbidden(let text): ("destination-forbidden", text)
            case .upstreamRejected(let text): ("upstream-rejected", text)
            case .upstreamUnreachable(let text): ("upstream-unreachable", text)
            case .upstreamRateLimited: ("upstream-rate-limited", "The limit of requests to the source is reached.")
            case .upstreamTimeout(let text): ("upstream-timeout", text)
            case .superseded, .cancelled: ("unavailable", "The check was cancelled.")
            }
        var delay: Int64?
        if case .upstreamRateLimited(let wait) = error { delay = wait.components.seconds + 1 }
        return .failed(Subscription.Failure(code: code, message: message), retryAfter: delay)
    }
}
