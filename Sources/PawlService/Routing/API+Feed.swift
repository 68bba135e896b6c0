internal import DownloadCore
internal import DownloadIndex
internal import HTTPCore
internal import HTTPServer
internal import PawlConfiguration
internal import Subscriptions

/// Feeds of the finished files of subscriptions, and their keys.
extension API {
    /// `GET /subscriptions/{id}/feed.xml`.
    func feed(of id: RecordID, _ request: borrowing Request, _ caller: Caller) throws(Problem) -> RouteResult {
        try QueryReader.read(request.head.target) { reader throws(Problem) in
            // Already checked; taken so that it is not refused as unknown.
            _ = try reader.value("key")
        }
        guard let host = request.head.fields[.host] else {
            throw Problem(.invalidRequest, "the request has no Host, which the addresses in the feed need")
        }
        let origin = "\(request.scheme ?? "http")://\(host)"
        let request = copy request
        return .later { [self] () throws(Problem) in
            let subscription = try await SubscriptionError.asProblem(await subscriptions.find(id))
            let hidesSecrets = caller.scope != .full && caller.key == nil
            let document = ServedFeed(
                origin: origin, linkPrefix: request.linkPrefix, hidesSecrets: hidesSecrets,
                showsKey: access.needsToken && !hidesSecrets)
            let state = FeedTags.State(version: subscription.version, finishedChanges: index.finishedChanges)
            var response = Response()
            response.fields.append(.contentType, "application/rss+xml; charset=utf-8")
            response.fields.append(.cacheControl, "private, no-cache")
            if let tag = feedTags.tag(of: id, as: document, at: state) {
                var unchanged = response
                unchanged.validate(for: request, etag: tag)
                if unchanged.status == .notModified { return unchanged }
            }
            let items = try await SubscriptionError.asProblem(await subscriptions.finishedItems(of: id))
            return try await read { [response] in
                var response = response
                response.body = Array(document.text(of: subscription, items).utf8)
                let tag = ContentTag.of(response.body)
                feedTags.keep(tag, of: id, as: document, at: state)
                response.validate(for: request, etag: tag)
                return response
            }
        }
    }

    /// `POST /subscriptions/{id}/key`.
    func replaceKey(of id: RecordID, _ request: borrowing Request) throws(Problem) -> RouteResult {
        try BodyReader.checkEmpty(request)
        let prefix = request.linkPrefix
        return .later { [self] () throws(Problem) in
            let subscription = try await SubscriptionError.asProblem(await subscriptions.replaceKey(of: id))
            return response(subscription, prefix)
        }
    }

    /// Compares the key of a request, which opens one feed and the files in it.
    func checkKey(of call: Endpoint.Call, isFile: Bool, _ request: Request) async throws(Problem) {
        guard let key = call.caller.key else { return }
        let (named, owner) = (RecordID(parsing: call.segment), await subscriptions.subscription(withKey: key))
        guard let owner, isFile || owner == named else {
            do throws(Problem) {
                try access.refuse(key: key, of: request.peer)
            } catch {
                record(error, of: request)
                throw error
            }
        }
        guard isFile else { return }
        guard let named, try await SubscriptionError.asProblem(await subscriptions.hasTaken(named, owner)) else {
            throw Problem(.notFound, "the feed of this key has no such file")
        }
    }
}
