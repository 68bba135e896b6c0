internal import Feeds
internal import HTTPClient
internal import HTTPCore
internal import System

extension Catalog {
    /// The listing for a request, from memory or from the source.
    func entry(
        for request: SourceRequest, _ source: any SearchSource, session: String?, isFresh: Bool = false
    ) async throws(CatalogError) -> ListingCache.Entry {
        let key = Self.key(request, source)
        let waiter = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                join(waiter, continuation, for: request, source, key: key, session: session, isFresh: isFresh)
            }
        } onCancel: {
            leave(waiter)
        }
        return try outcome.get()
    }

    private func join(
        _ waiter: SingleFlight.WaiterID, _ continuation: CheckedContinuation<Outcome, Never>, for request: SourceRequest,
        _ source: any SearchSource, key: String, session: String?, isFresh: Bool
    ) {
        if Task.isCancelled { return continuation.resume(returning: .failure(.cancelled)) }
        let now = clock.now
        let (cached, cancellation) = state.withLock { state -> (ListingCache.Entry?, SingleFlight.Cancellation) in
            let (ticket, cancellation) = state.singleFlight.join(waiter, key: key, session: session, isFresh: isFresh, at: now)
            switch ticket {
            case .cached(let entry): return (entry, cancellation)
            case .joined: break
            case .started(let id):
                state.tasks[id] = Task { await self.fetch(id, request, source, key: key) }
            }
            state.waiting[waiter] = continuation
            return (nil, cancellation)
        }
        cancel(cancellation)
        if let cached { return continuation.resume(returning: .success(cached)) }
        // A cancellation before the waiter was in the table had no effect.
        if Task.isCancelled { leave(waiter) }
    }

    private func leave(_ waiter: SingleFlight.WaiterID) {
        let (continuation, cancellation) = state.withLock { state in
            (state.waiting.removeValue(forKey: waiter), state.singleFlight.leave(waiter))
        }
        cancel(cancellation)
        continuation?.resume(returning: .failure(.cancelled))
    }

    /// Ends the wait of a superseded search, and a request without waiters.
    func cancel(_ cancellation: SingleFlight.Cancellation) {
        let (continuation, task) = state.withLock { state in
            (
                cancellation.superseded.flatMap { state.waiting.removeValue(forKey: $0) },
                cancellation.abandoned.flatMap { state.tasks.removeValue(forKey: $0) }
            )
        }
        task?.cancel()
        continuation?.resume(returning: .failure(.superseded))
    }

    /// Sends a request to the source, and resumes all waiters.
    private func fetch(_ id: SingleFlight.RequestID, _ request: SourceRequest, _ source: any SearchSource, key: String) async {
        let result: Result<Listing, CatalogError>
        do {
            result = .success(try await listing(for: request, source))
        } catch {
            result = .failure(error)
        }
        let now = clock.now
        let (continuations, expires) = state.withLock { state in
            state.tasks[id] = nil
            let finished = state.singleFlight.finish(id, key: key, listing: try? result.get(), at: now)
            return (finished.waiters.compactMap { state.waiting.removeValue(forKey: $0) }, finished.expires)
        }
        let outcome = result.map { ListingCache.Entry(listing: $0, expires: expires) }
        for continuation in continuations { continuation.resume(returning: outcome) }
    }

    /// Waits until the rate budget allows the request, sends it and validates the response.
    /// - Parameter fields: Fields for the origin of the request, of a source whose requests go to any host.
    func listing(
        for request: SourceRequest, _ source: any SearchSource, _ fields: [(name: String, value: String)] = []
    ) async throws(CatalogError) -> Listing {
        let description = type(of: source).description
        guard description.hosts == .own else {
            var request = request
            var response = try await response(to: request, source, fields)
            if let successor = source.successor(of: response) {
                request = SourceRequest(url: successor)
                response = try await self.response(to: request, source, fields, trust: response.head.trust(in: successor))
            }
            let first = try ResponseValidator.listing(of: response, to: request, from: source)
            return await withPages(first, of: request, source, fields, response.head)
        }
        try await waitForToken(of: description)
        let response = try await response(to: request, source)
        do throws(CatalogError) {
            let listing = try ResponseValidator.listing(of: response, to: request, from: source)
            // A listing that is too large for the cache would be requested and parsed again each time.
            guard listing.cost <= configuration.cacheBytes || configuration.cacheEntries == 0 else {
                throw CatalogError.upstreamRejected("\(description.name) answered with a response that is larger than the cache.")
            }
            withBudget(description) { $0.succeeded() }
            return listing
        } catch .upstreamRateLimited(let retryAfter, let status) {
            let now = clock.now
            let wait = withBudget(description) { budget in
                budget.throttled(at: now, retryAfter: retryAfter == .zero ? nil : retryAfter)
            }
            throw .upstreamRateLimited(retryAfter: wait, httpStatus: status)
        }
    }

    /// Returns the listing of a feed with the items of its older pages, as far as the time suffices.
    /// - Parameters:
    ///   - fields: Fields for the origin of the request.
    ///   - head: The head of the response with the first page.
    private func withPages(
        _ first: Listing, of request: SourceRequest, _ source: any SearchSource, _ fields: [(name: String, value: String)],
        _ head: ClientResponseHead
    ) async -> Listing {
        guard let feed = first.feed else { return first }
        var pages = PagedFeed(feed, at: head.url)
        let deadline = clock.now + configuration.feedTimeout
        while let next = pages.next {
            let trust = head.trust(in: next)
            guard !Task.isCancelled, clock.now < deadline, !trust.hasLostEncryption else {
                pages.end(clock.now < deadline ? "one of them is at an address of http" : "they take too long")
                break
            }
            let page = SourceRequest(url: next)
            do throws(CatalogError) {
                let limit = clock.now.duration(to: deadline)
                let answer = try await response(to: page, source, fields, trust: trust, limit: limit)
                let listing = try ResponseValidator.listing(of: answer, to: page, from: source)
                guard let feed = listing.feed else { break }
                pages.add(feed)
            } catch {
                pages.end("\(next.host) does not answer with a feed")
            }
        }
        var listing = feed.next == nil ? first : FeedSource.listing(of: pages.feed, at: request.url)
        listing.feed = nil
        return listing
    }

    /// Sends a request to the source.
    private func response(
        to requested: SourceRequest, _ source: any SearchSource, _ fields: [(name: String, value: String)] = [],
        trust: RequestTrust = RequestTrust(), limit: Duration? = nil
    ) async throws(CatalogError) -> ClientResponse {
        let description = type(of: source).description
        let limit = limit ?? (description.hosts == .any ? configuration.feedTimeout : configuration.totalTimeout)
        var request = ClientRequest(url: requested.url)
        request.connectTimeout = configuration.connectTimeout
        request.headTimeout = limit
        request.totalTimeout = limit
        request.acceptsEncodings = true
        request.maximumRedirects = description.hosts == .any ? 10 : 3
        request.guarding = configuration.destinationGuard
        request.isForOrigin = true
        request.trust = trust
        request.fields = fields
        if !fields.contains(where: { FieldName($0.name) == .accept }) {
            request.fields.append((name: "Accept", value: description.accept))
        }
        do {
            return try await client.fetch(
                request, bodyLimit: description.hosts == .any ? Feed.Limits.bytes : configuration.bodyLimit)
        } catch {
            throw CatalogError(error, from: source.respondent(to: requested), isChosen: description.hosts == .any)
        }
    }

    /// Waits until the source's rate budget allows a request.
    private func waitForToken(of source: SourceDescription) async throws(CatalogError) {
        let now = clock.now
        switch withBudget(source, { $0.take(at: now, of: max(1, configuration.replicas())) }) {
        case .refused(let retryAfter): throw .upstreamRateLimited(retryAfter: retryAfter)
        case .at(let time):
            if time > now {
                do {
                    try await clock.sleep(until: time)
                } catch {
                    withBudget(source) { $0.release(time) }
                    throw .cancelled
                }
            }
            if Task.isCancelled {
                withBudget(source) { $0.release(time) }
                throw .cancelled
            }
            // During the wait, the source may have throttled an earlier request.
            let later = clock.now
            if let wait = withBudget(source, { $0.closure(at: later) }) {
                withBudget(source) { $0.release(time) }
                throw .upstreamRateLimited(retryAfter: wait)
            }
        }
    }

    @discardableResult
    private func withBudget<Value: Sendable>(_ source: SourceDescription, _ body: (inout RateBudget) -> Value) -> Value {
        state.withLock { state in
            var budget =
                state.budgets[source.id]
                ?? RateBudget(
                    tokens: source.pace?.requests ?? configuration.requestsPerMinute, period: source.pace?.period ?? .seconds(60),
                    longestWait: configuration.longestWait,
                    backoff: configuration.backoff, longestBackoff: configuration.longestBackoff)
            defer { state.budgets[source.id] = budget }
            return body(&budget)
        }
    }
}
