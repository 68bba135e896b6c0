import DownloadCore
import HTTPCore
import Testing

@testable import Subscriptions

private func time(_ day: Int64) -> Timestamp { Timestamp(millisecondsSinceEpoch: day * 86_400_000) }

private let now = time(20_000)

/// An item of a listing that was published on a day.
private func listed(_ key: String, _ day: Int64? = nil, _ name: String? = nil, minutes: Int64? = nil) -> ListedItem {
    ListedItem(
        key: key, name: name ?? key, date: day.map(time), durationMs: minutes.map { $0 * 60_000 }, url: "https://a.test/\(key)")
}

@Suite("Decisions about subscriptions")
struct DecisionTests {
    @Test(
        "A work without parts is skipped only if its source says that it has none",
        arguments: [
            (.notFound, .empty), (.invalidRequest, .empty), (.destinationForbidden, .destinationForbidden),
            (.upstreamRejected, nil), (.upstreamUnreachable, nil), (.upstreamTimeout, nil), (.upstreamRateLimited, nil),
            (.unavailable, nil),
        ] as [(ProblemCode, SkipReason?)])
    func unlisted(_ problem: ProblemCode, _ expected: SkipReason?) {
        let failure = Subscription.Failure(problem: problem, message: "")
        #expect(CheckOutcome.failed(failure, retryAfter: nil).skipReason == expected)
        #expect(CheckOutcome.listed(CheckOutcome.Listing(items: [])).skipReason == .empty)
    }

    // MARK: - Listings

    struct ListingRow: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let listing: [ListedItem]
        var known: [String: ItemState] = [:]
        let rules: ListingDecision.Rules
        /// The states of new records, and of items that are taken, by key.
        let expected: String
    }

    private static let include: ItemFilter = {
        var filter = ItemFilter()
        filter.include = [GlobPattern("*news*")]
        filter.maxDurationMs = 600_000
        return filter
    }()

    @Test(
        "A listing takes new items by the rules",
        arguments: [
            ListingRow(
                testDescription: "new leaves the first listing", listing: [listed("b", 2), listed("a", 1)],
                rules: .init(take: .new, isFirst: true), expected: "b skipped backlog, a skipped backlog"),
            ListingRow(
                testDescription: "latest takes the newest", listing: [listed("c", 3), listed("b", 2), listed("a", 1)],
                rules: .init(take: .latest(2), isFirst: true), expected: "c taken, b taken, a skipped backlog"),
            ListingRow(
                testDescription: "latest counts after the filter",
                listing: [listed("c", 3, "Music"), listed("b", 2, "The News"), listed("a", 1, "news of old")],
                rules: .init(take: .latest(1), filter: include, isFirst: true),
                expected: "c skipped filtered, b taken, a skipped backlog"),
            ListingRow(
                testDescription: "all takes all that pass",
                listing: [listed("b", 2, "news", minutes: 11), listed("a", 1, "News")],
                rules: .init(take: .all, filter: include, isFirst: true), expected: "b skipped filtered, a taken"),
            ListingRow(
                testDescription: "later listings take what appears, whatever its date",
                listing: [listed("c", 3), listed("b", 2), listed("a")], known: ["b": .skipped],
                rules: .init(take: .new), expected: "c taken, a taken"),
            ListingRow(
                testDescription: "known items are never taken again",
                listing: [listed("d", 4), listed("c", 3), listed("b", 2), listed("a", 1)],
                known: ["a": .expired, "b": .skipped, "c": .taken, "d": .taken], rules: .init(take: .all), expected: ""),
            ListingRow(
                testDescription: "paused subscriptions note new items", listing: [listed("b", 2), listed("a", 1, "b")],
                known: ["a": .taken], rules: .init(isPaused: true), expected: "b new"),
            ListingRow(
                testDescription: "resumption takes them", listing: [listed("b", 2)], known: ["b": .new], rules: .init(),
                expected: "b taken"),
            ListingRow(
                testDescription: "items up to the horizon count as seen", listing: [listed("c", 9), listed("b", 8), listed("a")],
                rules: .init(take: .all, horizon: time(8)), expected: "c taken, a taken"),
            ListingRow(
                testDescription: "behind a break is the backlog, and in front of it what appears",
                listing: [listed("d", 9), listed("c", 8), listed("b", 7), listed("a", 1)], known: ["c": .skipped, "b": .skipped],
                rules: .init(take: .new, isFirst: true, createdAt: time(8)), expected: "d taken, a skipped backlog"),
            ListingRow(
                testDescription: "items without dates behind a break are known by their position",
                listing: [listed("c"), listed("b"), listed("a")], known: ["b": .skipped],
                rules: .init(take: .new, isFirst: true, createdAt: time(8)), expected: "c taken, a skipped backlog"),
            ListingRow(
                testDescription: "latest goes on behind a break", listing: [listed("c", 3), listed("b", 2), listed("a", 1)],
                known: ["c": .expired], rules: .init(take: .latest(2), isFirst: true, createdAt: time(8)),
                expected: "b taken, a skipped backlog"),
            ListingRow(
                testDescription: "an item that appears late is new",
                listing: [listed("c", 19_000), listed("b", 2), listed("a", 1)],
                known: ["c": .taken, "a": .skipped], rules: .init(), expected: "b taken"),
            ListingRow(
                testDescription: "a listing that becomes longer shows the backlog",
                listing: [listed("e", 20_001), listed("d", 19_000), listed("c", 3), listed("b", 2), listed("a")],
                known: ["d": .taken, "x": .skipped], rules: .init(take: .latest(2)),
                expected: "e taken, c skipped backlog, b skipped backlog, a taken"),
            ListingRow(
                testDescription: "the backlog of a check that broke off stays one",
                listing: [listed("e", 5), listed("d", 4), listed("c", 3), listed("b", 2), listed("a", 1)],
                known: ["d": .skipped, "c": .skipped, "b": .skipped], rules: .init(take: .new, backlogEnd: time(4)),
                expected: "e taken, a skipped backlog"),
            ListingRow(
                testDescription: "a longer listing is taken by all", listing: [listed("c", 3), listed("b", 2), listed("a", 1)],
                known: ["c": .taken], rules: .init(take: .all), expected: "b taken, a taken"),
            ListingRow(
                testDescription: "a listing that was empty shows what is new", listing: [listed("b", 2), listed("a", 1)],
                rules: .init(), expected: "b taken, a taken"),
            ListingRow(
                testDescription: "all goes on behind a break", listing: [listed("b", 2), listed("a", 1)], known: ["b": .taken],
                rules: .init(take: .all, isFirst: true, createdAt: time(8)), expected: "a taken"),
        ])
    func listings(row: ListingRow) {
        var known: [String: KnownItem] = [:]
        for (key, state) in row.known {
            known[key] = KnownItem(key: key, date: now, state: state, url: "https://a.test/\(key)")
        }
        let decision = ListingDecision(of: row.listing, known: known, row.rules, now: now)
        var texts: [(Int, String)] = decision.taken.map { ($0, "\(row.listing[$0].key) taken") }
        for (offset, item) in decision.kept {
            texts.append((offset, "\(item.key) \(item.state)" + (item.reason.map { " \($0.rawValue)" } ?? "")))
        }
        #expect(texts.sorted { $0.0 < $1.0 }.map(\.1).joined(separator: ", ") == row.expected)
        #expect(decision.moved.isEmpty)
    }

    @Test("An item that is known by its address is the same with another key; an item with an id is not")
    func identification() {
        var record = KnownItem(key: "bare", date: now, state: .taken, url: "https://a.test/play?1")
        record.isMade = true
        var listing = ["1", "2", "1"].map { id in
            ListedItem(key: "full\(id)", name: id, url: "https://a.test/play?\(id)")
        }
        listing[0].isNamedByAddress = true
        listing[1].isNamedByAddress = true
        listing = ItemIdentity(of: listing, known: ["bare": record]).listing
        #expect(listing.map(\.key) == ["bare", "full2", "full1"])
        let decision = ListingDecision(of: listing, known: ["bare": record], .init(), now: now)
        #expect(decision.taken == [1, 2] && decision.kept.isEmpty && decision.moved.isEmpty)
    }

    @Test(
        "An item with the address of a taken one and a date is another file",
        arguments: [
            (.taken, 2, [0]), (.taken, nil, []), (.expired, 2, []), (.skipped, 2, []),
        ] as [(ItemState, Int64?, Set<Int>)])
    func renewal(state: ItemState, day: Int64?, expected: Set<Int>) {
        var item = listed("new", day)
        item.url = "https://a.test/latest"
        let record = KnownItem(key: "old", date: time(1), state: state, url: "https://a.test/latest")
        let decision = ListingDecision(of: [item], known: ["old": record], .init(), now: now)
        #expect(decision.taken == [0] && decision.renewed == expected)
    }

    @Test("A decision that is cancelled ends")
    func cancellation() {
        let decision = ListingDecision(of: [listed("a", 1)], known: [:], .init(), now: now) { true }
        #expect(decision.taken.isEmpty && decision.kept.isEmpty)
    }

    @Test("An item without a date is as old as its place in the listing says")
    func dates() {
        let listing = [listed("c"), listed("b", 9), listed("a")]
        let dates = ListingDecision(of: listing, known: [:], .init(), now: now).dates.map(\.millisecondsSinceEpoch)
        let day = time(9).millisecondsSinceEpoch
        let expected = [now.millisecondsSinceEpoch - 1, day, day - 1]
        #expect(dates == expected)
    }

    @Test("An item with a date in the future is as new as the check that finds it")
    func futureDates() {
        let listing = [listed("d", 47_000), listed("c", 20_001), listed("b", 20_000), listed("a", 9)]
        let dates = ListingDecision(of: listing, known: [:], .init(), now: now).dates.map(\.millisecondsSinceEpoch)
        let present = now.millisecondsSinceEpoch
        let expected = [present - 1, present - 2, present, time(9).millisecondsSinceEpoch]
        #expect(dates == expected)
    }

    @Test("A changed address of a known item is noticed")
    func moves() {
        let known = ["a": KnownItem(key: "a", date: now, state: .taken, url: "https://old.test/a")]
        let decision = ListingDecision(of: [listed("a", 1)], known: known, .init(), now: now)
        #expect(decision.moved == [0] && decision.taken.isEmpty && decision.kept.isEmpty)
    }

    // MARK: - Expiry

    @Test(
        "Keeps the newest items",
        arguments: [
            // Newest first: f finished, l live, e ended without a file, o not made by the subscription, h taken by hand.
            ("fff", 2, "2"), ("fff", 3, ""), ("lff", 1, "2"), ("llfff", 2, "4"), ("eff", 1, "2"), ("flf", 1, "2"),
            ("fof", 1, "2"), ("hff", 1, "2"),
            ("ffh", 1, "1"), ("", 1, ""), ("ffff", 1, "321"),
        ])
    func expiry(items: String, keep: Int, expected: String) {
        let items = items.enumerated().map { offset, letter -> (item: KnownItem, holding: Expiry.Holding) in
            var item = KnownItem(key: "\(offset)", date: time(100 - Int64(offset)), state: .taken)
            item.isMade = letter != "o"
            item.isByHand = letter == "h"
            return (item, letter == "l" ? .live : letter == "e" ? .ended : .finished)
        }
        #expect(Expiry.expired(items, keep: keep).joined() == expected)
        #expect(Expiry.expired(items.reversed(), keep: keep).joined() == expected)
    }

    // MARK: - Schedules

    @Test(
        "The interval follows the user, the feed and failures",
        arguments: [
            (3_600, nil, 0, 3_600), (3_600, 7_200, 0, 7_200), (3_600, 60, 0, 3_600), (300, 1_000_000, 0, 86_400),
            (604_800, nil, 0, 604_800), (604_800, 7_200, 0, 604_800), (3_600, nil, 1, 300), (3_600, nil, 2, 600),
            (300, nil, 4, 2_400), (300, nil, 9, 76_800), (300, nil, 10, 86_400), (300, nil, 1_000, 86_400), (3_600, 900, 1, 900),
        ] as [(Int64, Int64?, Int, Int64)])
    func intervals(every: Int64, hint: Int64?, failures: Int, expected: Int64) {
        let schedule = CheckSchedule(every: every, hint: hint, failures: failures)
        #expect(schedule.interval == expected)
        for (random, factor) in [(0, 900), (0.5, 1000), (0.999, 1100)] as [(Double, Int64)] {
            let next = schedule.next(after: now, planned: now, random: random)
            #expect(abs(next.millisecondsSinceEpoch - now.millisecondsSinceEpoch - expected * factor) <= expected)
        }
    }

    @Test(
        "After a check that was the first or late, the next one is at any time that the feed permits",
        arguments: [
            // Seconds: the interval, the feed's wish, the lateness, the earliest next check.
            (3_600, nil, nil, 300), (3_600, nil, 361, 300), (3_600, nil, 359, 3_240), (3_600, nil, -3_000, 3_240),
            (3_600, 1_800, nil, 1_800), (3_600, 7_200, nil, 6_480), (300, nil, nil, 270), (604_800, nil, 86_400, 300),
        ] as [(Int64, Int64?, Int64?, Int64)])
    func spread(every: Int64, hint: Int64?, lateness: Int64?, expected: Int64) {
        let schedule = CheckSchedule(every: every, hint: hint)
        let plan = lateness.map { Timestamp(millisecondsSinceEpoch: now.millisecondsSinceEpoch - $0 * 1000) }
        let waits = [0, 0.999_999].map {
            schedule.next(after: now, planned: plan, random: $0).millisecondsSinceEpoch - now.millisecondsSinceEpoch
        }
        #expect(abs(waits[0] - expected * 1000) <= 1 && abs(waits[1] - schedule.interval * 1100) <= schedule.interval)
    }

    @Test(
        "A plan of a clock that was ahead does not delay the next check",
        arguments: [
            // Seconds from now: the last check, the plan, the wait.
            (-600, 3_000, 3_000), (-7_200, -3_600, 0), (0, 3_600, 3_600), (nil, 3_600, 0), (86_400, 90_000, 0),
            (3_600, 7_200, 0), (-600, 86_400 * 30, 0), (-60, 86_400, 86_400),
            // The clocks of two replicas.
            (30, 3_630, 3_630),
        ] as [(Int64?, Int64, Int64)])
    func clocks(last: Int64?, plan: Int64, expected: Int64) {
        func time(_ seconds: Int64) -> Timestamp {
            Timestamp(millisecondsSinceEpoch: now.millisecondsSinceEpoch + seconds * 1000)
        }
        let schedule = CheckSchedule(every: 3_600)
        #expect(schedule.wait(until: time(plan), after: last.map(time), now: now) == expected * 1000)
    }

    @Test(
        "One check a day reads the whole listing",
        arguments: [(nil, true), (-1, false), (-86_399, false), (-86_400, true), (1, true)] as [(Int64?, Bool)])
    func wholeListings(seconds: Int64?, expected: Bool) {
        let last = seconds.map { Timestamp(millisecondsSinceEpoch: now.millisecondsSinceEpoch + $0 * 1000) }
        #expect(CheckSchedule.readsAll(after: last, now: now) == expected)
    }

    @Test(
        "An origin is asked again for a missing file at growing intervals for two weeks",
        arguments: [
            // Attempts; seconds: the failure after the addition, now after the failure, the wait.
            (1, 1, 0, 300), (1, 1, 100, 200), (2, 301, 0, 301), (3, 601, 601, 0), (3, 601, 9_999, 0), (9, 40_000, 0, 40_000),
            (13, 400_000, 0, 86_400), (22, 1_209_599, 0, 86_400), (22, 1_209_600, 0, nil), (40, 300_000, 0, 86_400),
            // The clock was set: it was behind, or ahead.
            (1, 1_728_000, 0, 300), (2, 1_700_000_000, 0, 600), (2, 1_700_000_000, 600, 0), (12, 1_700_000_000, 0, 86_400),
            (21, 1_700_000_000, 0, 86_400), (22, 1_700_000_000, 0, nil), (1, -9_999_999, 0, 300), (3, -9_999_999, 0, 1_200),
            (22, -9_999_999, 0, nil), (1, 1, -9_999_999, 300), (0, 1, 0, 300), (Int.max, 1, 0, 300),
        ] as [(Int, Int64, Int64, Int64?)])
    func missingFiles(attempts: Int, failed: Int64, present: Int64, expected: Int64?) {
        func time(_ seconds: Int64) -> Timestamp {
            Timestamp(millisecondsSinceEpoch: now.millisecondsSinceEpoch + seconds * 1000)
        }
        let wait = MissingFile.wait(added: now, failed: time(failed), attempts: attempts, now: time(failed + present))
        #expect(wait == expected.map { $0 * 1000 })
    }

    @Test(
        "A file is missing if its origin says so, or has a page in its place",
        arguments: [
            (.httpStatus, 404, true), (.httpStatus, 403, true), (.httpStatus, 410, false), (.httpStatus, 401, false),
            (.mediaTypeMismatch, 200, true), (.checksumMismatch, 200, false), (.connectionFailed, nil, false),
        ] as [(FailureCode, Int?, Bool)])
    func missing(code: FailureCode, status: Int?, expected: Bool) {
        #expect(MissingFile.isMissing(DownloadFailure(code, "", httpStatus: status)) == expected)
    }

    @Test(
        "An origin has the present version of a file if tag, date and length are the same",
        arguments: [
            ("ETag: a, Last-Modified: b, Content-Length: 5", true), ("ETag: a, Last-Modified: b", true),
            ("ETag: c, Last-Modified: b, Content-Length: 5", false), ("ETag: a, Last-Modified: c", false),
            ("ETag: a, Content-Length: 5", false), ("ETag: a, Last-Modified: b, Content-Length: 6", false), ("", false),
        ])
    func versions(text: String, expected: Bool) throws {
        var fields = Fields()
        for line in text.split(separator: ", ") {
            let parts = line.split(separator: ": ").map(String.init)
            fields.append(try #require(FieldName(parts[0])), parts[1])
        }
        let entity = SavedEntity(etag: FieldValue("a"), lastModified: FieldValue("b"), total: 5)
        #expect(entity.isVersion(of: fields) == expected)
        #expect(!SavedEntity(total: 5).isVersion(of: fields))
    }

    // MARK: - Patterns

    @Test(
        "A pattern matches a whole name",
        arguments: [
            ("", "", true), ("", "a", false), ("*", "", true), ("*", "a/b", true), ("a*c", "ABC", true), ("a*c", "ab", false),
            ("?", "é", true), ("?", "", false), ("*news*", "The News at 10", true), ("a?c*", "abcdef", true),
            ("a?c", "ac", false),
            ("**a**", "bab", true), ("*.mp3", "disc 1/a.MP3", true), ("a*b*c", "aXbYbZc", true), ("a*b*c", "aXcYb", false),
            ("[a]", "[A]", true), ("É*", "e\u{301}tude", true),
        ])
    func patterns(pattern: String, name: String, expected: Bool) {
        #expect(GlobPattern(pattern).matches(units: GlobPattern.units(name)) == expected)
    }
}
