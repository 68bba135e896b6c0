internal import Catalog
internal import DownloadCore
internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import JSON
internal import PawlConfiguration
internal import Subscriptions
internal import System

/// Requests about subscriptions.
extension API {
    /// `GET /subscriptions`.
    func listSubscriptions(_ request: borrowing Request, _ caller: Caller) throws(Problem) -> RouteResult {
        let (states, label, text, limit, cursor) = try QueryReader.read(request.head.target) { reader throws(Problem) in
            (
                Set(try reader.choices("state", Subscription.State.self)), try reader.value("label"), try reader.value("q"),
                try reader.integer("limit", in: 1...200) ?? 50, try Self.cursor(&reader)
            )
        }
        let (prefix, hidesSecrets) = (request.linkPrefix, caller.scope != .full)
        return .later { [self] () throws(Problem) in
            let wanted = text?.lowercased()
            let matching = await subscriptions.all.reversed().filter { subscription in
                if !states.isEmpty, !states.contains(subscription.state) { return false }
                if let label, !subscription.settings.labels.containsExactly(label) { return false }
                guard let wanted else { return true }
                let name = hidesSecrets ? HTTPURL.withoutSecrets(in: subscription.name) : subscription.name
                return name.lowercased().contains(wanted)
            }
            let page = matching.filter { subscription in cursor.map { subscription.id < $0 } ?? true }.prefix(limit + 1)
            return Self.response { writer in
                writer.beginObject()
                writer.name("items")
                writer.beginArray()
                for item in page.prefix(limit) { encode(item, into: &writer, prefix, hidesSecrets: hidesSecrets) }
                writer.endArray()
                writer.member("nextCursor", page.count > limit ? page.dropLast().last?.id.description : nil)
                writer.member("total", matching.count)
                writer.endObject()
            }
        }
    }

    /// `POST /subscriptions`.
    func subscribe(_ request: borrowing Request) throws(Problem) -> RouteResult {
        let asked = try SubscriptionRequest(try BodyReader.json(of: request), isNew: true)
        var settings = Subscription.Settings()
        asked.apply(to: &settings)
        let prefix = request.linkPrefix
        return .later { [self, settings] () throws(Problem) in
            let source = try await resolve(asked.source)
            let (subscription, isNew) = try await Problem.rethrowing(
                subscriptions: await subscriptions.create(source, settings))
            var response = response(subscription, prefix)
            if isNew { response.status = .created }
            response.fields.append(.location, "\(prefix.text)/subscriptions/\(subscription.id)")
            return response
        }
    }

    /// Returns the source that a request means. A podcast of iTunes is followed by its feed.
    private func resolve(_ source: SubscriptionRequest.Source?) async throws(Problem) -> Subscription.Source {
        switch source {
        case .feed(let url): return .feed(url)
        case .search(let term): return .search(term: term)
        case .work(let id):
            guard catalog.isID(id) else {
                throw Problem(.invalidRequest, "'source.partsOf' \(Catalog.objection(toID: id))")
            }
            if id.hasPrefix("itunes:") {
                let found = try await Problem.rethrowing(catalog: await catalog.lookup(id))
                guard let feed = found.items.first?.feedID.flatMap(Catalog.feedAddress) else {
                    throw Problem(.notFound, "'\(id)' is not a podcast with a known feed; subscribe to the address of its feed")
                }
                return .feed(feed)
            }
            guard id.hasPrefix("archive:") else {
                throw Problem(.notFound, "'\(id)' has no parts to subscribe to")
            }
            return .work(id)
        case nil: throw Problem(.invalidRequest, "'source' is missing; a subscription takes either 'source' or 'feedUrl'")
        }
    }

    /// `GET /subscriptions/{id}`.
    func showSubscription(
        _ id: DownloadID, _ request: borrowing Request, _ caller: Caller
    ) throws(Problem) -> RouteResult {
        let request = copy request
        let hidesSecrets = caller.scope != .full
        return .later { [self] () throws(Problem) in
            let subscription = try await Problem.rethrowing(subscriptions: await subscriptions.find(id))
            var response = response(subscription, request.linkPrefix, hidesSecrets: hidesSecrets)
            // The tag stays the same over checks, so it serves for changes, and not for copies.
            if !request.head.fields.contains(.ifNoneMatch) {
                response.validate(for: request, etag: subscription.entityTag)
            }
            return response
        }
    }

    /// `PATCH /subscriptions/{id}`.
    func changeSubscription(_ id: DownloadID, _ request: borrowing Request) throws(Problem) -> RouteResult {
        let asked = try SubscriptionRequest(try BodyReader.json(of: request), isNew: false)
        var address: HTTPURL?
        if case .feed(let url) = asked.source { address = url }
        let prefix = request.linkPrefix
        let condition = Self.condition(of: .patch, request.head.fields)
        return .later { [self, address] () throws(Problem) in
            let subscription = try await Problem.rethrowing(
                subscriptions: await subscriptions.change(
                    id, address: address, givesHeaders: asked.givesHeaders, if: condition
                ) { asked.apply(to: &$0) })
            return response(subscription, prefix)
        }
    }

    /// `DELETE /subscriptions/{id}`.
    func unsubscribe(_ id: DownloadID, _ request: borrowing Request) throws(Problem) -> RouteResult {
        let (deletesDownloads, deletesFiles) = try QueryReader.read(request.head.target) { reader throws(Problem) in
            (try reader.bool("deleteDownloads") ?? false, try reader.bool("deleteFiles") ?? false)
        }
        guard deletesDownloads || !deletesFiles else {
            throw Problem(.invalidRequest, "the query parameter 'deleteFiles' is true without 'deleteDownloads'; it needs both")
        }
        try BodyReader.checkEmpty(request)
        let subscriptions = subscriptions
        let condition = Self.condition(of: .delete, request.head.fields)
        return .later { () throws(Problem) in
            try await Problem.rethrowing(
                subscriptions: await subscriptions.remove(
                    id, deletingDownloads: deletesDownloads, files: deletesFiles, if: condition))
            return Response(status: .noContent)
        }
    }

    /// `POST /subscriptions/{id}/pause` and `/resume`.
    func setActivity(of id: DownloadID, isActive: Bool, _ request: borrowing Request) throws(Problem) -> RouteResult {
        try BodyReader.checkEmpty(request)
        let prefix = request.linkPrefix
        return .later { [self] () throws(Problem) in
            let subscription = try await Problem.rethrowing(
                subscriptions: isActive ? await subscriptions.resume(id) : await subscriptions.pause(id))
            return response(subscription, prefix)
        }
    }

    /// `POST /subscriptions/{id}/refresh`.
    func refresh(_ id: DownloadID, _ request: borrowing Request) throws(Problem) -> RouteResult {
        try BodyReader.checkEmpty(request)
        let prefix = request.linkPrefix
        return .later { [self] () throws(Problem) in
            let (subscription, hasEnded) = try await Problem.rethrowing(subscriptions: await subscriptions.refresh(id))
            var response = response(subscription, prefix)
            if !hasEnded { response.status = HTTPStatus(202) }
            return response
        }
    }

    /// `GET /subscriptions/{id}/items`.
    func listItems(of id: DownloadID, _ request: borrowing Request) throws(Problem) -> RouteResult {
        let (states, limit, cursor) = try QueryReader.read(request.head.target) { reader throws(Problem) in
            (
                try reader.choices("state", ItemState.self), try reader.integer("limit", in: 1...200) ?? 50,
                try reader.value("cursor")
            )
        }
        let subscriptions = subscriptions
        return .later { () throws(Problem) in
            let (items, hasMore) = try await Problem.rethrowing(
                subscriptions: await subscriptions.items(of: id, states: states, limit: limit, after: cursor))
            return Self.response { writer in
                writer.beginObject()
                writer.name("items")
                writer.beginArray()
                for item in items { item.encode(into: &writer) }
                writer.endArray()
                writer.member("nextCursor", hasMore ? items.last?.cursor : nil)
                writer.endObject()
            }
        }
    }

    /// `POST /subscriptions/{id}/items/{item}/take` and `/skip`.
    func decide(
        on item: String, of id: DownloadID, takes: Bool, _ request: borrowing Request
    ) throws(Problem) -> RouteResult {
        try BodyReader.checkEmpty(request)
        let subscriptions = subscriptions
        return .later { () throws(Problem) in
            let item = try await Problem.rethrowing(
                subscriptions: takes ? await subscriptions.take(item, of: id) : await subscriptions.skip(item, of: id))
            return Self.response { item.encode(into: &$0) }
        }
    }

    func response(_ subscription: Subscription, _ linkPrefix: PathPrefix, hidesSecrets: Bool = false) -> Response {
        var response = Self.response { encode(subscription, into: &$0, linkPrefix, hidesSecrets: hidesSecrets) }
        response.fields.append(.etag, subscription.entityTag)
        return response
    }

    /// Writes a subscription. Its key is only for callers that see secrets, and of no use without tokens.
    func encode(
        _ subscription: Subscription, into writer: inout JSONWriter, _ linkPrefix: PathPrefix, hidesSecrets: Bool = false
    ) {
        subscription.encode(
            into: &writer, linkPrefix, hidesSecrets: hidesSecrets, showsKey: access.needsToken && !hidesSecrets)
    }

    static func response(_ encode: (inout JSONWriter) -> Void) -> Response {
        var response = Response()
        response.forbidStoring()
        response.fill(.ok, encode)
        return response
    }

    private static func condition(of method: HTTPMethod, _ fields: Fields) -> (@Sendable (Subscription) -> Bool)? {
        guard Preconditions.arePresent(in: fields) else { return nil }
        return { subscription in
            Preconditions.evaluate(method: method, fields: fields, etag: subscription.entityTag, lastModified: nil) == .proceed
        }
    }
}
