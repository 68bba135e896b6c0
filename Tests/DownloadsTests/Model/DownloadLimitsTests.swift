import HTTPCore
import Testing

@testable import DownloadCore
@testable import Downloads

@Suite("Limits of downloads")
struct DownloadLimitsTests {
    /// A value beyond a limit, and the words of the refusal.
    struct Excess: Sendable {
        let name: String
        let set: @Sendable (inout NewDownload) throws -> Void

        init(_ name: String, _ set: @escaping @Sendable (inout NewDownload) throws -> Void) {
            self.name = name
            self.set = set
        }
    }

    private static func url(_ count: Int) throws -> HTTPURL {
        try #require(HTTPURL("http://a.example/" + String(repeating: "x", count: count)))
    }

    private static func new() throws -> NewDownload { NewDownload(url: try url(1)) }

    private static let excesses: [Excess] = [
        Excess("URL") { $0.url = try url(12 * DownloadLimits.url) },
        Excess("mirror") { $0.mirrors = [try url(12 * DownloadLimits.url)] },
        Excess("webhook") { $0.webhook = try url(12 * DownloadLimits.url) },
        Excess("65537 bytes") { $0.track = [UInt8](repeating: 0x20, count: 65537) },
    ]

    @Test("Options have the nearest possible numbers, no more mirrors than possible, and no labels that are none")
    func options() throws {
        let urls = Array(repeating: try Self.url(1), count: 17)
        let long = String(repeating: "ü", count: 200)
        for (given, possible) in [(-11, -10), (11, 10), (3, 3)] {
            #expect(DownloadOptions.with { $0.priority = given }.priority == possible)
        }
        for (given, possible) in [(0, 1), (17, 16)] { #expect(DownloadOptions.with { $0.segments = given }.segments == possible) }
        #expect(DownloadOptions.with { $0.mirrors = urls }.mirrors == Array(urls.dropLast()))
        #expect(DownloadOptions.with { $0.labels = ["", "a", "a\nb", long, long + "x"] }.labels == ["a", long])
        #expect(DownloadOptions.with { $0.speedLimit = -1 }.speedLimit == 0)
        #expect(DownloadOptions.with { $0.position = -1 }.position == 0)
        #expect(Timeouts(connect: -1, response: 86_401, stall: 7) == Timeouts(connect: 0, response: 86_400, stall: 7))
    }

    @Test("add refuses a value beyond its limit, alone and in a batch, and the rest of the batch is added")
    func additions() async throws {
        let fixture = try await ServiceFixture(starting: false)
        for excess in Self.excesses {
            var draft = try Self.new()
            try excess.set(&draft)
            let new = draft
            let error = await #expect(throws: DownloadError.self) { _ = try await fixture.service.add(new) }
            guard case .invalid(let reason)? = error else {
                Issue.record("\(excess.name): \(String(describing: error))")
                continue
            }
            #expect(reason.contains(excess.name))
            let outcomes = try await fixture.service.add([.success(new), .success(try Self.new())], label: "work")
            #expect(throws: Problem(.invalidRequest, reason)) { try outcomes[0].get() }
            #expect(throws: Never.self) { try outcomes[1].get() }
        }
        await fixture.service.shutdown()
    }

    @Test("the greatest values are accepted, and the label of a work does not count")
    func greatest() async throws {
        let fixture = try await ServiceFixture(starting: false)
        var new = try Self.new()
        new.mirrors = Array(repeating: try Self.url(DownloadLimits.url), count: 16)
        new.webhook = try Self.url(DownloadLimits.url)
        new.priority = 10
        new.labels = (0..<31).map { "label \($0)" } + [String(repeating: "ü", count: 200)]
        new.speedLimit = .max
        new.segments = 16
        new.position = .max
        new.mediaType = "*/*"
        new.track = Array("{}".utf8) + [UInt8](repeating: 0x20, count: 65534)
        let outcome = try await fixture.service.add([.success(new)], label: "work")[0].get()
        #expect(outcome.download.labels.count == 33)
        await fixture.service.shutdown()
    }

    @Test("change refuses a value beyond its limit")
    func changes() async throws {
        let fixture = try await ServiceFixture(starting: false)
        let id = try await fixture.service.add(try Self.new()).download.id
        let changes: [(inout DownloadChange) throws -> Void] = [
            { $0.url = try Self.url(12 * DownloadLimits.url) }, { $0.mirrors = [try Self.url(12 * DownloadLimits.url)] },
        ]
        for set in changes {
            var draft = DownloadChange()
            try set(&draft)
            let change = draft
            let error = await #expect(throws: DownloadError.self) {
                _ = try await fixture.service.change(id, change)
            }
            if case .invalid? = error { continue }
            Issue.record("\(String(describing: error))")
        }
        await fixture.service.shutdown()
    }
}
