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
        Excess("17 mirrors") { $0.mirrors = Array(repeating: $0.url, count: 17) },
        Excess("mirror") { $0.mirrors = [try url(12 * DownloadLimits.url)] },
        Excess("webhook") { $0.webhook = try url(12 * DownloadLimits.url) },
        Excess("priority is 11") { $0.priority = 11 },
        Excess("priority is -11") { $0.priority = -11 },
        Excess("33 labels") { $0.labels = (0..<33).map(String.init) },
        Excess("label") { $0.labels = [""] },
        Excess("label") { $0.labels = ["a\nb"] },
        Excess("label") { $0.labels = [String(repeating: "ü", count: 201)] },
        Excess("speed limit is -1; it takes 0 or more") { $0.speedLimit = -1 },
        Excess("segments is 0; it takes 1 to 16") { $0.segments = 0 },
        Excess("segments is 17") { $0.segments = 17 },
        Excess("position is -1") { $0.position = -1 },
        Excess("media type") { $0.mediaType = "audio" },
        Excess("media type") { $0.mediaType = "audio/" + String(repeating: "x", count: 256) },
        Excess("65537 bytes") { $0.track = [UInt8](repeating: 0x20, count: 65537) },
    ]

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
            { $0.url = try Self.url(12 * DownloadLimits.url) }, { $0.mirrors = Array(repeating: try Self.url(1), count: 17) },
            { $0.priority = 11 }, { $0.labels = [""] }, { $0.speedLimit = -1 }, { $0.segments = 17 }, { $0.position = -1 },
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
