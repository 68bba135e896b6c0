internal import Catalog
internal import DownloadCore
internal import Feeds
internal import HTTPClient
internal import HTTPCore
internal import System

/// Fetches a feed for a check: with conditions, and with every redirect examined.
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
    private static let maximumRedirects = 10

    /// Fetches the feed at an address, and the feed that it names in its place.
    @concurrent func run(_ address: HTTPURL) async -> CheckOutcome {
        let first = await fetch(address, Trust(subscription.headersOrigin), isConditional: isConditional)
        guard case .listed(var listing) = first.outcome, let successor = first.successor, successor != listing.address else {
            return await withPages(first)
        }
        // A move holds once the new address has given a feed. Until then the old one is read.
        let moved = await fetch(successor, first.trust, isConditional: false)
        if case .listed = moved.outcome { return await withPages(moved) }
        // The next check must see the new address again.
        listing.validators = Subscription.Validators()
        return await withPages(Fetched(outcome: .listed(listing), trust: first.trust, feed: first.feed))
    }

    /// The result of one fetch, with the new address that the feed names for itself.
    private struct Fetched {
        var outcome: CheckOutcome
        var successor: HTTPURL?
        var trust: Trust
        var feed: Feed?
        /// Whether the same request may succeed at another time.
        var isTransient = true
    }

    /// Returns the outcome of a fetch with the items of the older pages, which count until all were read once.
    ///
    /// The first page that cannot be read at present, or breaks off, is where the next check continues. Later checks read the
    /// first page alone, and repeat the warning of those that are left out.
    private func withPages(_ fetched: Fetched) async -> CheckOutcome {
        guard case .listed(var listing) = fetched.outcome, let feed = fetched.feed, let address = listing.address else {
            return fetched.outcome
        }
        if subscription.hasListing {
            if feed.next != nil { listing.warnings += subscription.warnings.filter(PagedFeed.isEnd) }
            return .listed(listing)
        }
        var pages = PagedFeed(feed, at: address, next: subscription.nextPage)
        while let next = pages.next, !Task.isCancelled {
            var trust = fetched.trust
            trust.note(from: address, to: next)
            guard !trust.hasLostEncryption else {
                pages.end("one of them is at an address of http")
                break
            }
            let page = await fetch(next, trust, isConditional: false, mayBePage: false)
            if case .listed = page.outcome, let feed = page.feed {
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

    /// The limits of what the next request of a chain may send. A response has chosen its address.
    private struct Trust {
        /// The origin that the header fields were given for; `nil` after a request to another one.
        private(set) var origin: String?
        /// Whether the chain has led from https to http. A listener could have forged the response.
        private(set) var hasLostEncryption = false

        init(_ origin: String?) { self.origin = origin }

        /// Notes that a response leads on to another address.
        mutating func note(from url: HTTPURL, to next: HTTPURL) {
            if url.origin != origin { origin = nil }
            if url.scheme == "https", next.scheme == "http" { hasLostEncryption = true }
        }
    }

    private func fetch(
        _ address: HTTPURL, _ trusted: Trust, isConditional: Bool, mayBePage: Bool = true
    ) async -> Fetched {
        var url = address
        var permanent = address
        var isPermanent = true
        var cookies = CookieJar()
        var trust = trusted
        var hasSecrets = false
        for _ in 0...Self.maximumRedirects {
            // The validators are those of the present address. One that takes its place must give the feed.
            let isConditional = isConditional && (url == address || !isPermanent)
            let response: ClientResponse
            do throws(ClientError) {
                var request = request(url, trust, isConditional: isConditional)
                request.cookies = cookies
                response = try await client.fetch(request, bodyLimit: Feed.Limits.bytes)
            } catch {
                return Fetched(outcome: Self.failure(error, from: url), trust: trust)
            }
            let status = response.head.status.code
            let location = response.head.fields[.location]
            guard [301, 302, 303, 307, 308].contains(status), let location else {
                // After the first listing a page is an error: it may be that of a login, and its feed another one.
                guard mayBePage, subscription.changedAt == nil, let feed = page(response, from: url) else {
                    return read(response, from: url, permanent, trust, isConditional: isConditional)
                }
                // The feed's address would be kept, and a listener could have chosen it.
                guard !trust.hasLostEncryption else {
                    let message = "\(address.host) redirects from https to a page over http; give the address of the feed."
                    return Fetched(outcome: Self.rejected(message), trust: trust)
                }
                trust.note(from: url, to: feed)
                return await fetch(feed, trust, isConditional: false, mayBePage: false)
            }
            guard let next = url.resolving(location)?.withoutUserInfo else {
                let message = "\(url.host) redirects to something that is no address."
                return Fetched(outcome: Self.rejected(message, status: status), trust: trust)
            }
            hasSecrets = hasSecrets || isSecret(url, trust)
            trust.note(from: url, to: next)
            // A listener could forge the response, even though the secret is not sent any more.
            guard !trust.hasLostEncryption || !hasSecrets else {
                let error = ClientError.destinationForbidden("a redirect from https to \(next.origin), with secret headers")
                return Fetched(outcome: Self.failure(error, from: url), trust: trust)
            }
            // The next check begins with encryption again.
            isPermanent = isPermanent && (status == 301 || status == 308) && !trust.hasLostEncryption
            cookies = response.head.cookies
            url = next
            if isPermanent { permanent = next }
        }
        return Fetched(
            outcome: Self.rejected("\(address.host) redirects more than \(Self.maximumRedirects) times."), trust: trust)
    }

    private func request(_ url: HTTPURL, _ trust: Trust, isConditional: Bool) -> ClientRequest {
        var request = ClientRequest(url: url)
        request.connectTimeout = .seconds(10)
        let left = max(.milliseconds(1), ContinuousClock.now.duration(to: deadline))
        request.headTimeout = left
        request.totalTimeout = left
        request.lowSpeedLimit = nil
        request.acceptsEncodings = true
        request.isForOrigin = true
        request.hasLostEncryption = trust.hasLostEncryption
        request.maximumRedirects = nil
        request.guarding = destinationGuard
        if isConditional {
            if let tag = subscription.validators.entityTag {
                request.fields.append((name: "If-None-Match", value: tag))
            }
            if let date = subscription.validators.lastModified {
                request.fields.append((name: "If-Modified-Since", value: date))
            }
        }
        // Secrets go to the origin that they were given for, and not after a return from another one.
        let hasAll = url.origin == trust.origin
        for header in subscription.settings.headers where hasAll || header.isHarmless {
            request.fields.append((name: header.name, value: header.value))
        }
        if !request.fields.contains(where: { FieldName($0.name) == .accept }) {
            request.fields.append((name: "Accept", value: Catalog.feedAccept))
        }
        return request
    }

    /// Whether a request to the URL has secret headers of the subscription.
    private func isSecret(_ url: HTTPURL, _ trust: Trust) -> Bool {
        url.origin == trust.origin && !subscription.settings.headers.allSatisfy(\.isHarmless)
    }

    /// Returns the address of the feed that a page announces; `nil` if the response is no such page.
    private func page(_ response: ClientResponse, from url: HTTPURL) -> HTTPURL? {
        guard (200..<300).contains(response.head.status.code) else { return nil }
        return FeedLink.first(in: response.body, at: url, charset: Self.charset(response))
    }

    private static func charset(_ response: ClientResponse) -> String? {
        response.head.fields[.contentType].flatMap { MediaType(parsing: $0)?.charset }
    }

    private func read(
        _ response: ClientResponse, from url: HTTPURL, _ permanent: HTTPURL, _ trust: Trust, isConditional: Bool
    ) -> Fetched {
        let fields = response.head.fields
        let hint = Self.hint(fields)
        switch response.head.status.code {
        case 304:
            let hasAsked = isConditional && subscription.validators != Subscription.Validators()
            guard hasAsked else {
                return Fetched(
                    outcome: Self.rejected(
                        "\(url.host) answered with status 304 to a request without conditions.", status: 304),
                    trust: trust)
            }
            return Fetched(outcome: .unchanged(hint: hint), trust: trust)
        case 410: return Fetched(outcome: .gone, trust: trust)
        case 200..<300: break
        case let status:
            let code = status == 429 ? "upstream-rate-limited" : "upstream-rejected"
            return Fetched(
                outcome: .failed(
                    Subscription.Failure(
                        code: code, message: "\(url.host) answered with status \(status).", httpStatus: status),
                    retryAfter: fields.retryAfter(at: .now())?.components.seconds), trust: trust,
                isTransient: status >= 500 || [408, 425, 429].contains(status))
        }
        do throws(Feed.Refusal) {
            let feed = try Feed(reading: response.body, from: url, charset: Self.charset(response))
            var after = trust
            if let successor = feed.newAddress { after.note(from: url, to: successor) }
            // A listener could have chosen the new address, or could listen there from now on.
            let successor = after.hasLostEncryption ? nil : feed.newAddress
            return Fetched(
                outcome: .listed(listing(feed, fields, at: permanent, hint: hint)), successor: successor, trust: after,
                feed: feed)
        } catch {
            let finding = error.finding(ofType: fields[.contentType].flatMap { MediaType(parsing: $0)?.essence })
            return Fetched(
                outcome: Self.rejected(
                    "\(url.host) answered with \(finding); expected is a feed.", status: response.head.status.code),
                trust: trust, isTransient: false)
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

    private func listing(_ feed: Feed, _ fields: Fields, at address: HTTPURL, hint: Int64?) -> CheckOutcome.Listing {
        var listing = CheckOutcome.Listing(items: Self.items(of: feed, at: address))
        listing.name = feed.title
        listing.work = FoundWork(feed, at: address).item
        listing.address = address
        listing.hint = [hint, feed.interval].compactMap(\.self).max()
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

    private static func rejected(_ message: String, status: Int? = nil) -> CheckOutcome {
        .failed(Subscription.Failure(code: "upstream-rejected", message: message, httpStatus: status), retryAfter: nil)
    }

    private static func failure(_ error: ClientError, from url: HTTPURL) -> CheckOutcome {
        let code =
            switch error {
            case .timedOut, .stalled: "upstream-timeout"
            case .destinationForbidden: "destination-forbidden"
            case .bodyTooLarge, .unsupportedEncoding, .invalidResponse, .onlyHTTP2, .invalidRedirect, .tooManyRedirects,
                .unsupportedScheme:
                "upstream-rejected"
            case .cancelled, .stopped, .connectionFailed, .proxyRefused, .tls, .transferBroken, .invalidRequest:
                "upstream-unreachable"
            }
        var failure = Subscription.Failure(code: code, message: "\(url.host): \(error.message).")
        if case .unsupportedScheme(let status, _) = error { failure.httpStatus = status }
        return .failed(failure, retryAfter: nil)
    }
}
