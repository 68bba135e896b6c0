internal import Catalog
internal import DownloadCore
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
        let (rendered, wanted, hidesSecrets) = (rendered(for: request, by: caller), text?.lowercased(), caller.scope != .full)
        // It may visit every subscription, so it is not made on the event loop.
        return .later { [self] () throws(Problem) in
            try await read {
                var matching = subscriptions.index.all
                if !states.isEmpty || label != nil || wanted != nil {
                    matching.removeAll { version in
                        let subscription = version.subscription
                        if !states.isEmpty, !states.contains(subscription.state) { return true }
                        if let label, subscription.settings.options.labels?.containsExactly(label) != true { return true }
                        guard let wanted else { return false }
                        let name = hidesSecrets ? HTTPURL.withoutSecrets(in: subscription.name) : subscription.name
                        return ![name, subscription.work(hidesSecrets: hidesSecrets)].contains {
                            $0.lowercased().contains(wanted)
                        }
                    }
                }
                let older = matching.prefix { version in cursor.map { version.subscription.id < $0 } ?? true }
                let page = older.suffix(limit)
                return Self.response { writer in
                    writer.beginObject()
                    writer.name("items")
                    writer.beginArray()
                    for version in page.reversed() { writer.raw { rendered.append(version, to: &$0) } }
                    writer.endArray()
                    writer.member("nextCursor", older.count > limit ? page.first?.subscription.id.description : nil)
                    writer.member("total", matching.count)
                    writer.endObject()
                }
            }
        }
    }

    /// `POST /subscriptions`.
    func subscribe(_ request: borrowing Request) throws(Problem) -> RouteResult {
        let asked = try SubscriptionRequest(try BodyReader.json(of: request), isNew: true)
        var settings = Subscription.Settings()
        asked.apply(to: &settings)
        let prefix = request.linkPrefix
        return try once(request) { [self, settings] key throws(Problem) -> (Subscription, isNew: Bool) in
            let source = try await resolve(asked.source)
            return try await SubscriptionError.asProblem(await subscriptions.create(source, settings, key: key))
        } kept: { record throws(Problem) in
            guard let kept = record.subscription, let subscription = Subscription(kept.stored) else {
                throw Problem(.internalError, "the outcome of the request is unknown")
            }
            return (subscription, kept.isNew)
        } response: { [self] subscription, isNew throws(Problem) in
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
                let found = try await CatalogError.asProblem(await catalog.lookup(id))
                guard let feed = found.items.first?.feedID.flatMap(Catalog.feedAddress) else {
                    throw Problem(.notFound, "'\(id)' is not a podcast with a known feed; subscribe to the address of its feed")
                }
                return .feed(feed)
            }
            // A file has no parts, only its item has.
            guard id.hasPrefix("archive:"), !id.utf8.contains(UInt8(ascii: "/")) else {
                throw Problem(.notFound, "'\(id)' has no parts to subscribe to")
            }
            return .work(id)
        case nil: throw Problem(.invalidRequest, "'source' is missing; a subscription takes either 'source' or 'feedUrl'")
        }
    }

    /// `GET /subscriptions/{id}`.
    func showSubscription(
        _ id: RecordID, _ request: borrowing Request, _ caller: Caller
    ) throws(Problem) -> RouteResult {
        let request = copy request
        let hidesSecrets = caller.scope != .full
        return .later { [self] () throws(Problem) in
            let subscription = try await SubscriptionError.asProblem(await subscriptions.find(id))
            var response = response(subscription, request.linkPrefix, hidesSecrets: hidesSecrets)
            // The tag stays the same over checks, so it serves for changes, and not for copies.
            if !request.head.fields.contains(.ifNoneMatch) {
                response.validate(for: request, etag: subscription.entityTag)
            }
            return response
        }
    }

    /// `PATCH /subscriptions/{id}`.
    func changeSubscription(_ id: RecordID, _ request: borrowing Request) throws(Problem) -> RouteResult {
        let asked = try SubscriptionRequest(try BodyReader.json(of: request), isNew: false)
        var address: HTTPURL?
        if case .feed(let url) = asked.source { address = url }
        let prefix = request.linkPrefix
        let condition = Self.condition(of: .patch, request.head.fields)
        return .later { [self, address] () throws(Problem) in
            let subscription = try await SubscriptionError.asProblem(
                await subscriptions.change(
                    id, address: address, givesHeaders: asked.givesHeaders, if: condition
                ) { asked.apply(to: &$0) })
            return response(subscription, prefix)
        }
    }

    /// `DELETE /subscriptions/{id}`.
    func unsubscribe(_ id: RecordID, _ request: borrowing Request) throws(Problem) -> RouteResult {
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
            try await SubscriptionError.asProblem(
                await subscriptions.remove(
                    id, deletingDownloads: deletesDownloads, files: deletesFiles, if: condition))
            return Response(status: .noContent)
        }
    }

    /// `POST /subscriptions/{id}/pause` and `/resume`.
    func setActivity(of id: RecordID, isActive: Bool, _ request: borrowing Request) throws(Problem) -> RouteResult {
        try BodyReader.checkEmpty(request)
        let prefix = request.linkPrefix
        return .later { [self] () throws(Problem) in
            let subscription = try await SubscriptionError.asProblem(
                isActive ? await subscriptions.resume(id) : await subscriptions.pause(id))
            return response(subscription, prefix)
        }
    }

    /// `POST /subscriptions/{id}/refresh`.
    func refresh(_ id: RecordID, _ request: borrowing Request) throws(Problem) -> RouteResult {
        try BodyReader.checkEmpty(request)
        let prefix = request.linkPrefix
        return .later { [self] () throws(Problem) in
            let (subscription, hasEnded) = try await SubscriptionError.asProblem(await subscriptions.refresh(id))
            var response = response(subscription, prefix)
            if !hasEnded { response.status = HTTPStatus(202) }
            return response
        }
    }

    /// `GET /subscriptions/{id}/items`.
    func listItems(of id: RecordID, _ request: borrowing Request) throws(Problem) -> RouteResult {
        let (states, limit, cursor) = try QueryReader.read(request.head.target) { reader throws(Problem) in
            (
                try reader.choices("state", ItemState.self), try reader.integer("limit", in: 1...200) ?? 50,
                try reader.value("cursor")
            )
        }
        let subscriptions = subscriptions
        return .later { () throws(Problem) in
            let (items, hasMore) = try await SubscriptionError.asProblem(
                await subscriptions.items(of: id, states: states, limit: limit, after: cursor))
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
        on item: String, of id: RecordID, takes: Bool, _ request: borrowing Request
    ) throws(Problem) -> RouteResult {
        try BodyReader.checkEmpty(request)
        let subscriptions = subscriptions
        return .later { () throws(Problem) in
            let item = try await SubscriptionError.asProblem(
                takes ? await subscriptions.take(item, of: id) : await subscriptions.skip(item, of: id))
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
