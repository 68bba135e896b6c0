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
            let outcomes = await subscribe(to: list.outlines, labels)
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
                writer.texts(list.warnings, "warnings")
                writer.endObject()
            }
        }
    }

    /// Subscribes to the feeds of outlines, many at once, so that they share commits. Once the time is up or the records cannot
    /// be written in time, nothing more is done.
    private func subscribe(
        to outlines: [OPML.Outline], _ labels: [String: [String]]
    ) async -> [Result<(Subscription, isNew: Bool), Problem>] {
        let deadline = ContinuousClock.now + Self.importLimit
        var outcomes: [Result<(Subscription, isNew: Bool), Problem>] = []
        var isRefused = false
        while outcomes.count < outlines.count, !isRefused, ContinuousClock.now < deadline {
            let group = outlines[outcomes.count...].prefix(Self.importGroup)
            let tasks = group.map { outline in
                Task { await subscribe(to: outline, labels: labels[outline.address] ?? []) }
            }
            for task in tasks {
                let outcome = await task.value
                if case .failure(let problem) = outcome, problem.status == .serviceUnavailable { isRefused = true }
                outcomes.append(outcome)
            }
        }
        let rest = Problem(
            .unavailable, "the records cannot be written in time, and nothing was done; try again in 5 s", retryAfter: 5)
        return outcomes + Array(repeating: .failure(rest), count: outlines.count - outcomes.count)
    }

    /// The time after which an import adds no more feeds.
    private static let importLimit: Duration = .seconds(4)
    /// The number of feeds that an import adds at once.
    private static let importGroup = 100

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
        settings.options.labels = labels
        if let credentials = url.basicAuthorization { settings.authorize(credentials) }
        do throws(SubscriptionError) {
            return .success(try await subscriptions.create(.feed(url.withoutUserInfo), settings, name: outline.title))
        } catch {
            return .failure(error.problem)
        }
    }

    /// `GET /subscriptions/export`.
    func exportSubscriptions(_ caller: Caller) throws(Problem) -> RouteResult {
        let (subscriptions, hidesSecrets) = (subscriptions, caller.scope != .full)
        return .later { () throws(Problem) in
            var list = OPML(title: "Pawl")
            for subscription in subscriptions.index.all.lazy.map(\.subscription) {
                guard case .feed(let url) = subscription.source else { continue }
                let address = url.withoutUserInfo.string
                if hidesSecrets {
                    guard subscription.settings.options.headers.isEmpty, HTTPURL.withoutSecrets(in: address) == address else {
                        continue
                    }
                }
                let page = subscription.pageUrl.map { hidesSecrets ? HTTPURL.withoutSecrets(in: $0) : $0 }
                list.outlines.append(
                    OPML.Outline(
                        address: address, title: subscription.name, page: page, labels: subscription.settings.options.labels ?? []
                    ))
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
