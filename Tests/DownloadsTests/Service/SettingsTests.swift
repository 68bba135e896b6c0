import Foundation
import HTTPCore
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import Downloads

@Suite("Settings", .timeLimit(.minutes(3)))
struct SettingsTests {
    static let cases:
        [(kept: [String: String], explicit: Set<ServiceSettings.Name>, maxConcurrent: Int, speedLimit: Int64, stores: [String])] =
            [
                ([:], [], 8, 100, []),
                (["maxConcurrent": "3"], [], 3, 100, []),
                (["maxConcurrent": "3", "speedLimit": "7"], [.maxConcurrent], 8, 7, ["maxConcurrent=8"]),
                (["maxConcurrent": "8"], [.maxConcurrent], 8, 100, []),
                ([:], [.speedLimit, .maxConcurrent], 8, 100, ["maxConcurrent=8", "speedLimit=100"]),
                (["maxConcurrent": "0", "speedLimit": "much"], [], 8, 100, []),
                (["maxConcurrent": "1001"], [.maxConcurrent], 8, 100, ["maxConcurrent=8"]),
            ]

    @Test("Given values override stored ones, which override the defaults", arguments: cases)
    func precedence(
        kept: [String: String], explicit: Set<ServiceSettings.Name>, maxConcurrent: Int, speedLimit: Int64, stores: [String]
    ) {
        let given = ServiceSettings(maxConcurrent: 8, maxPerHost: 4, segments: 4, speedLimit: 100)
        let (settings, changes) = given.merged(withKept: kept, explicit: explicit)
        #expect(settings.maxConcurrent == maxConcurrent)
        #expect(settings.speedLimit == speedLimit)
        let written = changes.compactMap { change in
            if case .set(let name, let value?) = change { "\(name)=\(value)" } else { nil as String? }
        }
        #expect(written == stores)
    }

    @Test("Values out of range become the nearest valid ones")
    func ranges() {
        var settings = ServiceSettings(maxConcurrent: 8, maxPerHost: 4, segments: 4, speedLimit: 0)
        for name in ServiceSettings.Name.allCases {
            settings[name] = .min
            #expect(settings[name] == name.range.lowerBound)
            settings[name] = .max
            #expect(settings[name] == name.range.upperBound)
        }
    }

    @Test("A higher limit starts waiting downloads at once, and survives a restart")
    func atRunTime() async throws {
        let fixture = try await ServiceFixture { $0.maxConcurrent = 1 }
        let first = try await fixture.add("size=4000000&seed=90&fault=stall@1000000")
        _ = try await fixture.follow(first.id) { $0.bytesReceived > 0 }
        let second = try await fixture.add("size=1000&seed=91")
        #expect(fixture.service.index.download(second.id)?.state == .queued)
        let settings = try await fixture.service.change([.maxConcurrent: 2, .speedLimit: 12_345])
        #expect(settings.maxConcurrent == 2)
        #expect(settings.maxPerHost == 4)
        #expect(try await fixture.end(of: second.id).state == .completed)
        let again = try await fixture.crash(starting: false, configure: { $0.maxConcurrent = 1 })
        #expect(await again.service.settings.maxConcurrent == 2)
        #expect(await again.service.settings.speedLimit == 12_345)
        let told = try await again.crash(
            starting: false,
            configure: {
                $0.maxConcurrent = 5
                $0.explicitSettings = [.maxConcurrent]
            })
        #expect(await told.service.settings.maxConcurrent == 5)
        let last = try await told.crash(starting: false)
        #expect(await last.service.settings.maxConcurrent == 5)
        for each in [last, told, again, fixture] { await each.service.shutdown() }
    }
}
