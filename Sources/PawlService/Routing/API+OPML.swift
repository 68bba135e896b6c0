internal import Catalog
internal import DownloadCore
internal import Feeds
internal import HTTPCore
internal import HTTPServer
internal import JSON
internal import PawlConfiguration
internal import Subscriptions
internal import System

/// Lists of subscriptions in OPML, as podcast programs exchange them.
extension API {
    /// `POST /subscriptions/import`.
    func importSubscriptions(_ request: borrowing Request) throws(Problem) -> RouteResult {
        let document = try BodyReader.opml(of: request)
        let prefix = request.linkPrefix
        return .later { [self] () throws(Problem) in
            let list: OPML
            do throws(OPML.Refusal) {
                list = try OPML(reading: document.bytes, charset: document.charset)
            } catch {
                throw Problem(.invalidRequest, "the document \(error.finding)")
            }
            // A feed in several groups has an outline in each.
            var labels: [String: [String]] = [:]
            for outline in list.outlines {
                var present = labels[outline.address] ?? []
                for label in outline.labels where present.count < DownloadLimits.labels && DownloadLimits.isLabel(label) {
                    if !present.containsExactly(label) { present.append(label) }
                }
                labels[outline.address] = present
            }
            var outcomes: [Result<(Subscription, isNew: Bool), Problem>] = []
            for outline in list.outlines {
                outcomes.append(await subscribe(to: outline, labels: labels[outline.address] ?? []))
            }
            return Self.response { writer in
                writer.beginObject()
                writer.name("items")
                writer.beginArray()
                for outcome in outcomes {
                    writer.beginObject()
                    switch outcome {
                    case .success(let (subscription, isNew)):
                        writer.member("status", (isNew ? HTTPStatus.created : .ok).code)
                        writer.name("subscription")
                        encode(subscription, into: &writer, prefix)
                    case .failure(let problem):
                        writer.member("status", problem.status.code)
                        writer.name("problem")
                        problem.encode(into: &writer)
                    }
                    writer.endObject()
                }
                writer.endArray()
                writer.endObject()
            }
        }
    }

    /// Subscribes to the feed of an outline, with the labels that can be labels of downloads.
    private func subscribe(
        to outline: OPML.Outline, labels: [String]
    ) async -> Result<(Subscription, isNew: Bool), Problem> {
        guard let url = Catalog.feedAddress(outline.address) else {
            return .failure(
                Problem(
                    .invalidRequest,
                    "'xmlUrl' is '\(HTTPURL.withoutSecrets(in: outline.address).prefix(200))'; it takes an http or https URL"))
        }
        var settings = Subscription.Settings()
        settings.labels = labels
        if let credentials = url.basicAuthorization { settings.authorize(credentials) }
        do throws(SubscriptionError) {
            return .success(try await subscriptions.create(.feed(url.withoutUserInfo), settings, name: outline.title))
        } catch {
            return .failure(Problem(error))
        }
    }

    /// `GET /subscriptions/export`.
    func exportSubscriptions(_ caller: Caller) throws(Problem) -> RouteResult {
        let (subscriptions, hidesSecrets) = (subscriptions, caller.scope != .full)
        return .later { () throws(Problem) in
            var list = OPML(title: "Pawl")
            for subscription in await subscriptions.all {
                guard case .feed(let url) = subscription.source else { continue }
                let address = url.withoutUserInfo.string
                if hidesSecrets {
                    guard subscription.settings.headers.isEmpty, HTTPURL.withoutSecrets(in: address) == address else { continue }
                }
                let page = subscription.pageUrl.map { hidesSecrets ? HTTPURL.withoutSecrets(in: $0) : $0 }
                list.outlines.append(
                    OPML.Outline(
                        address: address, title: subscription.name, page: page, labels: subscription.settings.labels))
            }
            var response = Response()
            response.forbidStoring()
            response.fields.append(.contentType, "text/x-opml; charset=utf-8")
            response.fields.append(.contentDisposition, ContentDisposition.attachment(filename: "subscriptions.opml"))
            response.body = Array(list.document(created: HTTPDate(secondsSinceEpoch: SystemTime.sinceEpoch / 1_000_000_000)).utf8)
            return response
        }
    }
}
