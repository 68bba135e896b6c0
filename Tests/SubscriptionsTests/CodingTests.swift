import DownloadCore
import HTTPCore
import Testing

@testable import Catalog
@testable import Subscriptions

@Suite("Stored forms of subscriptions")
struct CodingTests {
    @Test("A subscription survives its stored form with every member")
    func subscriptions() throws {
        var settings = Subscription.Settings()
        settings.every = 7_200
        settings.take = .latest(5)
        settings.keep = 9
        settings.filter.include = [GlobPattern("a*"), GlobPattern("É")]
        settings.filter.exclude = [GlobPattern("*b")]
        settings.filter.minDurationMs = 1
        settings.filter.maxDurationMs = 2
        settings.naming = try NamingTemplate(folder: "{artist}/{work}", file: "{date} {title}")
        settings.options.folder = "x/y"
        settings.options.labels = ["l", "m"]
        settings.options.priority = -3
        settings.options.speedLimit = 1_000
        settings.formats = ["FLAC"]
        var headers = RequestHeaders()
        try headers.append(.authorization, "Basic eA==")
        settings.options.headers = headers
        let url = try #require(HTTPURL("https://a.test/feed?key=1"))
        let time = Timestamp(millisecondsSinceEpoch: 1_000)
        for source in [Subscription.Source.feed(url), .work("archive:x"), .search(term: "jazz \"live\"")] {
            var subscription = Subscription(id: RecordID(value: 7), source: source, settings: settings, at: time)
            #expect(Subscription(subscription.stored) == subscription)
            subscription.formerAddresses = ["https://old.test/"]
            subscription.name = "Näme"
            subscription.artist = "A"
            subscription.artworkUrl = "https://a.test/a.png"
            subscription.pageUrl = "https://a.test/"
            subscription.state = .gone
            subscription.checkedAt = time
            subscription.changedAt = time
            subscription.nextCheckAt = nil
            subscription.failures = 3
            let isGone = source == .feed(url)
            subscription.failure = .init(problem: isGone ? nil : .upstreamRejected, message: "It is gone.", httpStatus: 410)
            #expect(subscription.failure?.code == (isGone ? "gone" : "upstream-rejected"))
            subscription.warnings = ["cut"]
            subscription.hint = 60
            subscription.validators = .init(entityTag: "W/\"x\"", lastModified: "then")
            for (count, state) in ItemState.allCases.enumerated() { subscription.items[state] = count }
            subscription.hasListing = true
            subscription.listedAt = time
            subscription.nextPage = HTTPURL("https://a.test/?page=2")
            subscription.horizon = time
            subscription.backlogEnd = time
            subscription.revision = 12
            #expect(Subscription(subscription.stored)?.stored == subscription.stored)
            #expect(Subscription(subscription.stored)?.failure == subscription.failure)
            #expect(Subscription(subscription.stored)?.key == subscription.key)
            #expect(Subscription(subscription.stored)?.settings == settings)
        }
    }

    @Test("Refuses rows that no release writes", arguments: ["", "[]", "{}", #"{"feed":"x","createdAt":1,"updatedAt":1}"#])
    func broken(text: String) {
        #expect(Subscription(StoredSubscription(id: RecordID(value: 1), body: Array(text.utf8))) == nil)
    }

    @Test("An item survives its stored form")
    func items() throws {
        var item = SearchItem(raw: [])
        item.id = "feed:https://a.test/#0123"
        item.name = "A \"b\" é"
        item.durationMs = 9
        item.releaseDate = "2002-10-02T13:00:00Z"
        item.downloadUrl = "https://a.test/1.mp3"
        item.number = 3
        item.season = 2
        item.explicit = true
        item.guid = "https://a.test/?p=1"
        item.bytes = 5
        item.suggestion = SuggestedDownload(title: "T")
        item.suggestion?.folder = ["F", "G"]
        item.suggestion?.prefix = "2002-10-02"
        item.suggestion?.suffix = nil
        let details = ItemDetails(item)
        for url in [nil, "https://a.test/1.mp3", "https://a.test/other.mp3"] {
            let stored = details.encoded(besides: url)
            let again = try #require(ItemDetails(decoding: stored, besides: url))
            #expect(again.item == item && again.track == details.track && again.encoded(besides: url) == stored)
            // The address is stored once.
            #expect(String(decoding: stored, as: UTF8.self).contains("1.mp3") != (url == item.downloadUrl))
        }
        let again = try #require(ItemDetails(decoding: details.encoded(besides: nil), besides: nil))
        let listed = again.listed(key: "k")
        #expect(listed.name == item.name && listed.durationMs == 9 && listed.url == "https://a.test/1.mp3")
        #expect(listed.date?.description == "2002-10-02T13:00:00.000Z")
        #expect(ItemDetails(decoding: Array("{}".utf8), besides: nil) == nil)
    }
}
