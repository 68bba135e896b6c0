internal import Catalog
internal import DownloadCore
internal import Downloads
internal import HTTPClient
internal import HTTPCore

/// Items with another id and date, and the address of a file that is present.
extension SubscriptionService {
    /// Returns the keys of items whose files are other ones than those at the same addresses. Origins are asked for the
    /// versions of the files, and no byte is fetched again of the version that is present.
    func renewed(
        _ items: [(listed: ListedItem, details: ItemDetails)], of subscription: Subscription, _ known: [String: KnownItem]
    ) async -> Set<String> {
        let present = Dictionary(
            known.values.compactMap { item in item.state == .taken ? item.url.map { ($0, item) } : nil },
            uniquingKeysWith: { $0.date > $1.date ? $0 : $1 })
        let deadline = ContinuousClock.now + Limits.versions
        var renewed: Set<String> = []
        for (listed, details) in items {
            guard ContinuousClock.now < deadline, !Task.isCancelled, let url = listed.url.flatMap({ HTTPURL($0) }),
                let download = present[url.string]?.download, let entity = await downloads.entity(of: download),
                await isPresent(url, details, subscription, entity)
            else {
                renewed.insert(listed.key)
                continue
            }
        }
        return renewed
    }

    /// Whether an origin has the version of a file that is present.
    private func isPresent(
        _ url: HTTPURL, _ details: ItemDetails, _ subscription: Subscription, _ entity: SavedEntity
    ) async -> Bool {
        var request = ClientRequest(url: url)
        request.method = "HEAD"
        request.headTimeout = .seconds(10)
        request.totalTimeout = .seconds(10)
        request.isForOrigin = true
        request.guarding = destinationGuard
        var headers = subscription.headers(for: url)
        if let authorization = details.item.authorization { try? headers.authorize(authorization) }
        request.fields = headers.map { (name: $0.name, value: $0.value) }
        guard let head = try? await client.fetch(request, bodyLimit: 0).head, head.status.code == 200 else { return false }
        return entity.isVersion(of: head.fields)
    }
}

extension SavedEntity {
    /// Returns whether a response with these fields is about the same version: its tag, date and length are the same.
    func isVersion(of fields: Fields) -> Bool {
        guard source == nil, etag != nil || lastModified != nil else { return false }
        let length = fields[.contentLength].flatMap { Int64($0) }
        func text(_ value: FieldValue?) -> String? { value.map { String(decoding: $0.bytes, as: UTF8.self) } }
        return fields[.etag] == text(etag) && fields[.lastModified] == text(lastModified)
            && (total == nil || length == nil || total == length)
    }
}
