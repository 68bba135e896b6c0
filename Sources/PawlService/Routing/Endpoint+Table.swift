internal import DownloadCore
internal import HTTPCore
internal import PawlConfiguration

extension Endpoint {
    /// All endpoints. A new route is a new row here, and a path of `openapi.yaml`.
    static let all: [Endpoint] = [
        Endpoint("/", access: .open, .get { api, request, _, response throws(Problem) in try api.startPage(request, &response) }),
        Endpoint(
            "/console/{name}", access: .open,
            .get { api, request, call, response throws(Problem) in try api.consoleFile(named: call.segment, request, &response) }),
        Endpoint(
            "/client/{name}", access: .open,
            .get { api, request, call, response throws(Problem) in try api.clientFile(named: call.segment, request, &response) }),
        Endpoint(
            "/healthz", access: .open, isProbe: true,
            .get { api, request, _, response throws(Problem) in try api.health(request, &response) }),
        Endpoint(
            "/readyz", access: .open, isProbe: true, .get { api, request, _, _ throws(Problem) in try api.readiness(request) }),
        Endpoint(
            "/stats", .get { api, request, call, response throws(Problem) in try api.statistics(request, call.caller, &response) }
        ),
        Endpoint(
            "/settings", .get { api, request, call, _ throws(Problem) in try api.showSettings(request, call.caller) },
            .on(.patch, logs: .result("settings are changed")) { api, request, _, _ throws(Problem) in
                try api.changeSettings(request)
            }),
        Endpoint(
            "/settings/webhooks/test",
            .on(.post) { api, request, _, _ throws(Problem) in try api.testWebhooks(request) }),
        Endpoint("/metrics", .get(scope: .metrics) { api, request, _, _ throws(Problem) in try api.showMetrics(request) }),
        // A ticket only allows reading, and not more than its token.
        Endpoint(
            "/tickets",
            .on(.post, scope: .read) { api, request, call, response throws(Problem) in
                try api.issueTicket(request, call.caller, &response)
            }),
        Endpoint(
            "/openapi.yaml", access: .open,
            .get { api, request, _, response throws(Problem) in try api.document(request, &response) }),
        Endpoint(
            "/docs", access: .open, .get { api, request, _, response throws(Problem) in try api.reference(request, &response) }),
        Endpoint(
            "/problems/{code}", access: .open,
            .get { api, request, call, response throws(Problem) in try api.problem(call.segment, request, &response) }),

        Endpoint(
            "/search",
            .get(takesQuery: true) { api, request, call, response throws(Problem) in
                try api.search(request, call.caller, &response)
            }),
        Endpoint(
            "/search/sources", .get { api, request, _, response throws(Problem) in try api.searchSources(request, &response) }),
        Endpoint(
            "/search/lookup",
            .get(takesQuery: true) { api, request, call, _ throws(Problem) in try api.lookUp(request, call.caller) }),
        Endpoint(
            "/search/parts",
            .get(takesQuery: true) { api, request, call, response throws(Problem) in
                try api.parts(request, call.caller, &response)
            }),

        Endpoint(
            "/subscriptions",
            .get(takesQuery: true) { api, request, call, _ throws(Problem) in try api.listSubscriptions(request, call.caller) },
            .on(.post) { api, request, _, _ throws(Problem) in try api.subscribe(request) }),
        Endpoint(
            "/subscriptions/events", access: .ticket,
            .get(takesQuery: true) { api, request, call, response throws(Problem) in
                try api.subscriptionEvents(request, call.caller, &response)
            }),
        Endpoint(
            "/subscriptions/import",
            .on(.post, body: .opml) { api, request, _, _ throws(Problem) in try api.importSubscriptions(request) }),
        Endpoint(
            "/subscriptions/export",
            .get { api, request, call, _ throws(Problem) in try api.exportSubscriptions(call.caller) }),
        Endpoint(
            "/subscriptions/{id}",
            .get { api, request, call, _ throws(Problem) in
                try api.showSubscription(call.subscription(), request, call.caller)
            },
            .on(.patch) { api, request, call, _ throws(Problem) in
                try api.changeSubscription(call.subscription(), request)
            },
            .on(.delete, takesQuery: true, logs: .line("a subscription is deleted")) { api, request, call, _ throws(Problem) in
                try api.unsubscribe(call.subscription(), request)
            }),
        Endpoint(
            "/subscriptions/{id}/refresh",
            .on(.post) { api, request, call, _ throws(Problem) in try api.refresh(call.subscription(), request) }),
        Endpoint(
            "/subscriptions/{id}/pause",
            .on(.post) { api, request, call, _ throws(Problem) in
                try api.setActivity(of: call.subscription(), isActive: false, request)
            }),
        Endpoint(
            "/subscriptions/{id}/resume",
            .on(.post) { api, request, call, _ throws(Problem) in
                try api.setActivity(of: call.subscription(), isActive: true, request)
            }),
        Endpoint(
            "/subscriptions/{id}/items",
            .get(takesQuery: true) { api, request, call, _ throws(Problem) in
                try api.listItems(of: call.subscription(), request)
            }),
        Endpoint(
            "/subscriptions/{id}/items/{item}/take",
            .on(.post) { api, request, call, _ throws(Problem) in
                try api.decide(on: call.item(), of: call.subscription(), takes: true, request)
            }),
        Endpoint(
            "/subscriptions/{id}/items/{item}/skip",
            .on(.post) { api, request, call, _ throws(Problem) in
                try api.decide(on: call.item(), of: call.subscription(), takes: false, request)
            }),

        Endpoint(
            "/subscriptions/{id}/feed.xml", access: .key,
            .get(takesQuery: true) { api, request, call, _ throws(Problem) in
                try api.feed(of: call.subscription(), request, call.caller)
            }),
        Endpoint(
            "/subscriptions/{id}/key",
            .on(.post, logs: .line("the key of a feed is replaced")) { api, request, call, _ throws(Problem) in
                try api.replaceKey(of: call.subscription(), request)
            }),

        Endpoint(
            "/downloads",
            .get(takesQuery: true) { api, request, call, response throws(Problem) in
                try api.list(request, call.caller, &response)
            },
            .on(.post) { api, request, _, _ throws(Problem) in try api.add(request) },
            .on(.delete, takesQuery: true, logs: .result("downloads are deleted")) { api, request, _, _ throws(Problem) in
                try api.removeAll(request)
            }),
        Endpoint("/downloads/batch", .on(.post) { api, request, _, _ throws(Problem) in try api.addBatch(request) }),
        Endpoint(
            "/downloads/pause",
            .on(.post, takesQuery: true, logs: .result("downloads are paused")) { api, request, _, _ throws(Problem) in
                try api.performOnAll(.pause, request)
            }),
        Endpoint(
            "/downloads/resume",
            .on(.post, takesQuery: true, logs: .result("downloads are resumed")) { api, request, _, _ throws(Problem) in
                try api.performOnAll(.resume, request)
            }),
        Endpoint(
            "/downloads/cancel",
            .on(.post, takesQuery: true, logs: .result("downloads are cancelled")) { api, request, _, _ throws(Problem) in
                try api.performOnAll(.cancel, request)
            }),
        Endpoint(
            "/downloads/events", access: .ticket,
            .get(takesQuery: true) { api, request, call, response throws(Problem) in
                try api.events(of: nil, request, call.caller, &response)
            }),
        Endpoint(
            "/downloads/{id}",
            .get(takesQuery: true) { api, request, call, response throws(Problem) in
                try api.show(call.download(), request, call.caller, &response)
            },
            .on(.patch) { api, request, call, _ throws(Problem) in try api.change(call.download(), request) },
            .on(.delete, takesQuery: true, logs: .line("a download is deleted")) { api, request, call, _ throws(Problem) in
                try api.remove(call.download(), request)
            }),
        Endpoint(
            "/downloads/{id}/pause",
            .on(.post) { api, request, call, _ throws(Problem) in try api.perform(.pause, on: call.download(), request) }),
        Endpoint(
            "/downloads/{id}/resume",
            .on(.post) { api, request, call, _ throws(Problem) in try api.perform(.resume, on: call.download(), request) }),
        Endpoint(
            "/downloads/{id}/cancel",
            .on(.post, logs: .line("a download is cancelled")) { api, request, call, _ throws(Problem) in
                try api.perform(.cancel, on: call.download(), request)
            }),
        Endpoint(
            "/downloads/{id}/retry",
            .on(.post) { api, request, call, _ throws(Problem) in try api.perform(.retry, on: call.download(), request) }),
        Endpoint("/downloads/{id}/file", access: .ticket, isFile: true, file),
        Endpoint("/downloads/{id}/file/{name}", access: .ticket, isFile: true, file),
        Endpoint(
            "/downloads/{id}/events", access: .ticket,
            .get(takesQuery: true) { api, request, call, response throws(Problem) in
                try api.events(of: call.download(), request, call.caller, &response)
            }),
    ]

    private static let file = Operation.get(takesQuery: true) { api, request, call, response throws(Problem) in
        try api.file(of: call.download(), request, &response)
    }
}
