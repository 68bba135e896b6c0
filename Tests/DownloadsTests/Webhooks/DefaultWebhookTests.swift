import HTTPCore
import JSON
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadStore
@testable import Downloads

@Suite("Default webhooks", .timeLimit(.minutes(3)))
struct DefaultWebhookTests {
    private static func url(_ text: String) throws -> HTTPURL { try #require(HTTPURL(text)) }

    // MARK: - Decisions

    @Test(
        "Selected types reach all default webhooks, each URL once; the webhook of a request gets every end",
        arguments: [
            (.downloadFailed, nil, ["http://a/", "http://b/"]), (.downloadCompleted, nil, []),
            (.downloadFailed, "http://c/", ["http://c/", "http://a/", "http://b/"]),
            (.downloadCompleted, "http://c/", ["http://c/"]), (.downloadFailed, "http://b/", ["http://b/", "http://a/"]),
            (.serviceDegraded, nil, []),
        ] as [(WebhookMessageType, String?, [String])])
    func receivers(_ type: WebhookMessageType, _ own: String?, _ expected: [String]) throws {
        let webhooks = DefaultWebhooks(
            urls: try ["http://a/", "http://b/", "http://a/"].map(Self.url), types: [.downloadFailed, .subscriptionFailed])
        #expect(webhooks.receivers(of: type, besides: own) == expected)
    }

    @Test("An impairment is news when it begins, and a failure has the service tested until it works")
    func news() {
        var news = DegradationNews()
        #expect(!news.needsTest)
        news.suspect()
        #expect(news.needsTest)
        let results: [([StoreCondition.Degradation], isNews: Bool)] = [
            ([], false), ([.diskFull], true), ([.diskFull], false), ([.diskFull, .volumeAway], true), ([.volumeAway], false),
            ([], false), ([.diskFull], true),
        ]
        for (found, isNews) in results {
            #expect(news.note(found) == isNews, "\(found)")
            #expect(news.needsTest == !found.isEmpty)
        }
    }

    @Test("A list that shows no passwords keeps them; another URL has none")
    func userInfo() throws {
        var settings = ServiceSettings(maxConcurrent: 1, maxPerHost: 1, segments: 1, speedLimit: 0)
        settings.webhooks = try ["http://u:p@a/x?y", "http://b/"].map(Self.url)
        let list = try ["http://b/", "http://a/x?y", "http://a/", "http://v:q@a/x?y"].map(Self.url)
        let expected = ["http://b/", "http://u:p@a/x?y", "http://a/", "http://v:q@a/x?y"]
        #expect(settings.restoringUserInfo(in: list).map(\.string) == expected)
    }

    @Test(
        "Of webhooks that are shown alike, each keeps its own password",
        arguments: [
            (["http://a/x", "http://a/x"], ["http://u:1@a/x", "http://v:2@a/x"]),
            (["http://a/x", "http://a/x", "http://b/"], ["http://u:1@a/x", "http://v:2@a/x", "http://b/"]),
            (["http://u:1@a/x", "http://a/x"], ["http://u:1@a/x", "http://v:2@a/x"]), (["http://a/x"], ["http://u:1@a/x"]),
        ])
    func alike(list: [String], expected: [String]) throws {
        var settings = ServiceSettings(maxConcurrent: 1, maxPerHost: 1, segments: 1, speedLimit: 0)
        settings.webhooks = try ["http://u:1@a/x", "http://v:2@a/x"].map(Self.url)
        #expect(settings.restoringUserInfo(in: try list.map(Self.url)).map(\.string) == expected)
    }

    @Test("A given list of webhooks overrides the stored one, which overrides none; a damaged one counts as absent")
    func precedence() throws {
        let (given, kept) = (try [Self.url("http://a/")], try ["http://b/?c,d", "http://e/"].map(Self.url))
        let text = ServiceSettings.keptText(of: kept)
        let settings = ServiceSettings(maxConcurrent: 1, maxPerHost: 1, segments: 1, speedLimit: 0, webhooks: given)
        func merged(_ kept: String?, isExplicit: Bool) -> (webhooks: [HTTPURL], changes: Int) {
            let merged = settings.merged(
                withKept: kept.map { ["webhooks": $0] } ?? [:], explicit: [], areWebhooksExplicit: isExplicit)
            return (merged.settings.webhooks, merged.changes.count)
        }
        #expect(merged(text, isExplicit: false) == (kept, 0))
        #expect(merged(text, isExplicit: true) == (given, 1))
        #expect(merged("http://a/", isExplicit: true) == (given, 0))
        #expect(merged("", isExplicit: false) == ([], 0))
        for damaged in ["no URL", Array(repeating: "http://a/", count: DefaultWebhooks.limit + 1).joined(separator: "\n")] {
            #expect(merged(damaged, isExplicit: false) == (given, 0))
        }
    }

    // MARK: - Delivery

    private func fixture(
        directory: TemporaryDirectory? = nil, continuing earlier: ServiceFixture? = nil,
        _ configure: (inout DownloadsConfiguration) -> Void = { _ in }
    ) async throws -> ServiceFixture {
        try await ServiceFixture(directory: directory, continuing: earlier) {
            $0.webhookPolicy.firstDelay = .milliseconds(1)
            $0.webhookPolicy.longestDelay = .milliseconds(1)
            configure(&$0)
        }
    }

    /// The messages by the paths that they came to.
    private func messages(_ requests: [ScriptedOrigin.Request]) throws -> [String: [String]] {
        try Dictionary(
            grouping: requests.map { request in
                let message = try ReceivedMessage(request)
                return (request.target, "\(message.type) \(message.data.string ?? "")")
            }, by: \.0
        ).mapValues { $0.map(\.1).sorted() }
    }

    @Test("Ends go to every default webhook besides the request's, under ids of their own, until the list is empty")
    func ends() async throws {
        let receiver = try ScriptedOrigin { _ in [.response(200)] }
        let fixture = try await fixture {
            $0.webhooks = ["/a", "/b"].compactMap { HTTPURL(receiver.url($0)) }
            $0.webhookTypes = [.downloadCompleted]
        }
        let own = try Self.url(receiver.url("/own"))
        let completed = try await fixture.add("size=10&seed=301") { $0.webhook = own }
        let failed = try await fixture.add("size=10&seed=302&fault=404") { $0.webhook = own }
        let requests = try await receiver.requests(atLeast: 4)
        let told = "download.completed \(completed.id) completed"
        let both = [told, "download.failed \(failed.id) failed"]
        #expect(try messages(requests) == ["/a": [told], "/b": [told], "/own": both])
        #expect(Set(requests.map { $0["webhook-id"] }).count == 4)

        _ = try await fixture.service.change([:], webhooks: [])
        let last = try await fixture.add("size=10&seed=303") { $0.webhook = own }
        #expect(try await receiver.requests(atLeast: 5).last?.target == "/own")
        #expect(try await fixture.end(of: last.id).state == .completed)
        await fixture.service.shutdown()
        #expect(receiver.requests.count == 5)
    }

    @Test("Default webhooks and their undelivered messages survive a crash")
    func crash() async throws {
        let isUp = Waiter(false)
        let receiver = try ScriptedOrigin { _ in [.response(isUp.value ? 200 : 503)] }
        let before = try await fixture {
            ($0.webhookPolicy.firstDelay, $0.webhookPolicy.longestDelay) = (.seconds(600), .seconds(900))
        }
        let hooks = try ["/a", "/b"].map { try Self.url(receiver.url($0)) }
        #expect(try await before.service.change([:], webhooks: hooks).webhooks == hooks)
        let made = try await before.add("size=10&seed=304")
        let first = try await receiver.requests(atLeast: 2)
        let copy = try before.copy()
        await before.service.shutdown()
        isUp.update { $0 = true }
        let tried = receiver.requests.count
        let after = try await fixture(directory: copy, continuing: before)
        #expect(await after.service.settings.webhooks == hooks)
        let second = try await receiver.requests(atLeast: tried + 2).suffix(2)
        func portrait(_ requests: some Sequence<ScriptedOrigin.Request>) -> Set<[String]> {
            Set(requests.map { [$0.target, $0["webhook-id"] ?? "", String(decoding: $0.body, as: UTF8.self)] })
        }
        #expect(portrait(first) == portrait(second))
        #expect(try messages(Array(second))["/a"] == ["download.completed \(made.id) completed"])
        await after.service.shutdown()
    }

    @Test("Refuses webhooks that the guard refuses, and too many, in the settings and at the start")
    func refusals() async throws {
        let fixture = try await ServiceFixture(allowsPrivate: false)
        let inside = try Self.url("http://127.0.0.1:9/hook")
        await #expect(throws: DownloadError.self) { try await fixture.service.change([:], webhooks: [inside]) }
        let many = Array(repeating: try Self.url("https://example.org/"), count: DefaultWebhooks.limit + 1)
        await #expect(throws: DownloadError.self) { try await fixture.service.change([:], webhooks: many) }
        #expect(await fixture.service.settings.webhooks == [])
        await fixture.service.shutdown()
        await #expect(throws: DownloadsStartError.self) {
            try await ServiceFixture(allowsPrivate: false) { $0.webhooks = [inside] }
        }
    }

    @Test("A message tells once that the store fails, without a request for it, and again after it has worked")
    func degraded() async throws {
        let receiver = try ScriptedOrigin { _ in [.response(200)] }
        let fixture = try await fixture {
            $0.webhooks = [HTTPURL(receiver.url("/hook"))].compactMap(\.self)
            $0.webhookTypes = [.serviceDegraded]
        }
        for number in 1...2 {
            let made = try await fixture.add("size=10&seed=\(310 + number)") { $0.startsPaused = true }
            await fixture.service.watchStore()
            fixture.store.refuse { change in if case .dropDelivery = change { false } else { true } }
            // A failed save has the service tested.
            _ = try? await fixture.service.perform(.cancel, on: made.id)
            try await until {
                await fixture.service.watchStore()
                return receiver.requests.count >= number
            }
            for _ in 1...3 { _ = await fixture.service.storeCondition() }
            let message = try ReceivedMessage(try #require(receiver.requests.last))
            #expect(message.type == "service.degraded")
            #expect(message.data["degraded"]?.array?.compactMap(\.string) == ["not-writable"])
            fixture.store.refuse(nil)
            try await until { await fixture.service.storeCondition().degraded.isEmpty }
        }
        await fixture.service.shutdown()
        #expect(receiver.requests.count == 2)
    }

    @Test("A test tells the status or the error of each receiver, and waits for none beyond the limit")
    func test() async throws {
        let receiver = try ScriptedOrigin { request in
            switch request.target {
            case "/good": [.response(204)]
            case "/bad": [.response(404)]
            default: [.stall]
            }
        }
        let closed = try ClosedPort()
        let fixture = try await fixture {
            $0.webhooks = [receiver.url("/good"), receiver.url("/bad"), "http://u:p@127.0.0.1:\(closed.number)/"]
                .compactMap { HTTPURL($0) }
            $0.webhookTypes = []
        }
        let tests = await fixture.service.testWebhooks()
        #expect(tests.map(\.status) == [204, 404, nil])
        #expect(tests.map(\.url) == [receiver.url("/good"), receiver.url("/bad"), "http://127.0.0.1:\(closed.number)/"])
        #expect(tests[0].error == nil && tests[1].error == "it answered 404" && tests[2].error != nil)
        let message = try ReceivedMessage(try #require(receiver.requests.first))
        #expect(message.type == "webhook.test" && message.data.members?.isEmpty == true)

        let delivery = WebhookDelivery(
            id: await fixture.service.makeID(), url: receiver.url("/hang"), subject: nil, body: [], due: .now())
        let hanging = await fixture.service.parts.webhookTester?.test([delivery], within: .milliseconds(50))
        #expect(hanging?.first?.error?.contains("no response within") == true)
        await fixture.service.shutdown()
    }
}
