internal import Catalog
internal import DownloadCore
internal import Feeds
internal import HTTPClient
internal import HTTPCore

/// Fetches a feed for a check, with conditions.
struct FeedFetch: Sendable {
    let client: any UpstreamClient
    let destinationGuard: DestinationGuard?
    /// The subscription before the check.
    let subscription: Subscription
    /// Whether the server may answer that nothing has changed.
    var isConditional = true
    private let deadline = ContinuousClock.now + FeedFetch.limit

    /// The time limit of a check, redirects included. Some servers make a large feed at each request.
    private static let limit: Duration = .seconds(300)

    /// Fetches the feed at an address, and the feed that it names in its place.
    @concurrent func run(_ address: HTTPURL) async -> CheckOutcome {
        let trust = RequestTrust(hasLeftOrigin: address.origin != subscription.headersOrigin)
        var first = await fetch(address, trust, isConditional: isConditional)
        // A listener could have chosen the new address, or could listen there from now on.
        guard case .listed(var listing) = first.outcome, let (feed, head) = first.response, let successor = feed.newAddress,
            successor != listing.address, !head.trust(in: successor).hasLostEncryption
        else { return await withPages(first) }
        // A move holds once the new address has given a feed. Until then the old one is read.
        let moved = await fetch(successor, head.trust(in: successor), isConditional: false)
        if case .listed = moved.outcome { return await withPages(moved) }
        // The next check must see the new address again.
        listing.validators = Subscription.Validators()
        first.outcome = .listed(listing)
        return await withPages(first)
    }

    /// The result of one fetch.
    private struct Fetched {
        var outcome: CheckOutcome
        /// The feed that is listed, and the head of its response; `nil` for none.
        var response: (feed: Feed, head: ClientResponseHead)?
        /// Whether the same request may succeed at another time.
        var isTransient = true
    }

    /// Returns the outcome of a fetch with the items of the older pages, which count until all were read once.
    ///
    /// The first page that cannot be read at present, or breaks off, is where the next check continues. Later checks read the
    /// first page alone, and repeat the warning of those that are left out.
    private func withPages(_ fetched: Fetched) async -> CheckOutcome {
        guard case .listed(var listing) = fetched.outcome, let (feed, head) = fetched.response, let address = listing.address
        else { return fetched.outcome }
        if subscription.hasListing {
            if feed.next != nil { listing.warnings += subscription.warnings.filter(PagedFeed.isEnd) }
            return .listed(listing)
        }
        var pages = PagedFeed(feed, at: address, next: subscription.nextPage)
        while let next = pages.next, !Task.isCancelled {
            let trust = head.trust(in: next)
            guard !trust.hasLostEncryption else {
                pages.end("one of them is at an address of http")
                break
            }
            let page = await fetch(next, trust, isConditional: false, mayBePage: false)
            if let (feed, _) = page.response {
                pages.add(feed)
                if !feed.isComplete, listing.nextPage == nil { listing.nextPage = next }
            } else if case .failed(let failure, _) = page.outcome {
                if page.isTransient, listing.nextPage == nil { listing.nextPage = next }
                pages.end(failure.message)
            } else {
                pages.end("\(next.host) answered with status 410")
            }
        }
        listing.items = Self.items(of: pages.feed, at: address)
        listing.warnings = pages.feed.warnings
        listing.cut = pages.feed.cut
        if listing.nextPage != nil {
            listing.isComplete = false
            listing.validators = Subscription.Validators()
        }
        return .listed(listing)
    }

    private func fetch(
        _ address: HTTPURL, _ trust: RequestTrust, isConditional: Bool, mayBePage: Bool = true
    ) async -> Fetched {
        let response: ClientResponse
        do throws(ClientError) {
            let request = request(address, trust, isConditional: isConditional)
            response = try await client.fetch(request, bodyLimit: Feed.Limits.bytes)
        } catch {
            return Fetched(outcome: CheckOutcome(CatalogError(error, from: address.host, isChosen: true)))
        }
        // After the first listing a page is an error: it may be a login page, and its feed another one.
        guard mayBePage, subscription.changedAt == nil, let feed = page(response) else { return read(response) }
        // The feed's address would be kept, and a listener could have chosen it.
        guard !response.head.trust.hasLostEncryption else {
            let message = "\(address.host) redirects from https to a page over http; give the address of the feed."
            return Self.rejected(message)
        }
        return await fetch(feed, response.head.trust(in: feed), isConditional: false, mayBePage: false)
    }

    private func request(_ url: HTTPURL, _ trust: RequestTrust, isConditional: Bool) -> ClientRequest {
        var request = ClientRequest(url: url)
        request.connectTimeout = .seconds(10)
        let left = max(.milliseconds(1), ContinuousClock.now.duration(to: deadline))
        request.headTimeout = left
        request.totalTimeout = left
        request.lowSpeedLimit = nil
        request.acceptsEncodings = true
        request.isForOrigin = true
        request.trust = trust
        request.maximumRedirects = 10
        request.guarding = destinationGuard
        if isConditional {
            let (tag, date) = (subscription.validators.entityTag, subscription.validators.lastModified)
            if let tag { request.conditions.append((name: "If-None-Match", value: tag)) }
            if let date { request.conditions.append((name: "If-Modified-Since", value: date)) }
        }
        request.fields = subscription.settings.options.headers.map { ($0.name, $0.value) }
        if !request.fields.contains(where: { FieldName($0.name) == .accept }) {
            request.fields.append((name: "Accept", value: Catalog.feedAccept))
        }
        return request
    }

    /// Returns the address of the feed that a page announces; `nil` if the response is no such page.
    private func page(_ response: ClientResponse) -> HTTPURL? {
        guard (200..<300).contains(response.head.status.code) else { return nil }
        return FeedLink.first(in: response.body, at: response.head.url, charset: Self.charset(response))
    }

    private static func charset(_ response: ClientResponse) -> String? {
        response.head.fields[.contentType].flatMap { MediaType(parsing: $0)?.charset }
    }

    private func read(_ response: ClientResponse) -> Fetched {
        let (head, fields, host) = (response.head, response.head.fields, response.head.url.host)
        switch head.status.code {
        case 304 where head.isConditional: return Fetched(outcome: .unchanged(hint: Self.hint(fields)))
        case 304: return Self.rejected("\(host) answered with status 304 to a request without conditions.", status: 304)
        case 410: return Fetched(outcome: .gone)
        case 200..<300: break
        case let status:
            return Self.rejected(
                "\(host) answered with status \(status).", problem: status == 429 ? .upstreamRateLimited : .upstreamRejected,
                status: status, retryAfter: fields.retryAfter(at: .now())?.components.seconds,
                isTransient: status >= 500 || [408, 425, 429].contains(status))
        }
        do throws(Feed.Refusal) {
            let feed = try Feed(reading: response.body, from: head.url, charset: Self.charset(response))
            return Fetched(outcome: .listed(Self.listing(feed, head)), response: (feed, head))
        } catch {
            let finding = error.finding(ofType: fields[.contentType].flatMap { MediaType(parsing: $0)?.essence })
            let message = "\(host) answered with \(finding); expected is a feed."
            return Self.rejected(message, status: head.status.code, isTransient: false)
        }
    }

    private static func items(of feed: Feed, at address: HTTPURL) -> [(listed: ListedItem, details: ItemDetails)] {
        let parts = (try? FoundWork(feed, at: address).allParts(formats: [])) ?? []
        // Whether a query names the episode or holds a token is decided with the records.
        return ItemDetails.items(parts) { $0.guid ?? $0.downloadUrl }.map { listed, details in
            var details = details
            details.item.id = details.item.partOf.map { "\($0)#\(listed.key)" }
            return (listed, details)
        }
    }

    private static func listing(_ feed: Feed, _ head: ClientResponseHead) -> CheckOutcome.Listing {
        let (fields, address) = (head.fields, head.permanentURL)
        var listing = CheckOutcome.Listing(items: items(of: feed, at: address))
        listing.name = feed.title
        listing.work = FoundWork(feed, at: address).item
        listing.address = address
        listing.hint = [hint(fields), feed.interval].compactMap(\.self).max()
        listing.warnings = feed.warnings
        listing.cut = feed.cut
        listing.isComplete = feed.isComplete
        if feed.isComplete {
            listing.validators.entityTag = fields[.etag].flatMap { $0.utf8.allSatisfy { $0 < 0x80 } ? $0 : nil }
            listing.validators.lastModified = fields[.lastModified]
        }
        return listing
    }

    // MARK: - Fields

    /// The interval that a response asks for, in seconds: `max-age` (RFC 9111 §5.2.2.1) or `Retry-After`.
    private static func hint(_ fields: Fields) -> Int64? {
        let directives = (fields[.cacheControl] ?? "").lowercased().split(separator: ",")
        let age = directives.lazy.compactMap { directive -> Int64? in
            let parts = directive.split(separator: "=", maxSplits: 1).map { $0.drop(while: \.isWhitespace) }
            return parts.count == 2 && parts[0] == "max-age" ? seconds(String(parts[1])) : nil
        }.first
        return [age, fields.retryAfter(at: .now())?.components.seconds].compactMap(\.self).max()
    }

    /// A number of seconds of at most nine digits; `nil` for other texts.
    private static func seconds(_ text: String?) -> Int64? {
        guard let text, (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return Int64(text)
    }

    private static func rejected(
        _ message: String, problem: ProblemCode = .upstreamRejected, status: Int? = nil, retryAfter: Int64? = nil,
        isTransient: Bool = true
    ) -> Fetched {
        let failure = Subscription.Failure(problem: problem, message: message, httpStatus: status)
        return Fetched(outcome: .failed(failure, retryAfter: retryAfter), isTransient: isTransient)
    }
}
