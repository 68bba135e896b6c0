import HTTPCore
import System
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadStore
@testable import Downloads

@Suite("The settings in effect")
struct SettingsKeeperTests {
    private static let settings = ServiceSettings(maxConcurrent: 8, maxPerHost: 4, segments: 4, speedLimit: 0)

    @Test("A change is stored by names, and values out of range become the nearest")
    func changes() throws {
        let change = SettingsChange(values: [.maxConcurrent: 5000, .speedLimit: 7], speedSchedule: SpeedSchedule())
        #expect(change.kept == ["maxConcurrent": "5000", "speedLimit": "7", "speedSchedule": SpeedSchedule().keptText])
        var keeper = SettingsKeeper(Self.settings)
        keeper.apply(change)
        #expect(keeper.current == ServiceSettings(maxConcurrent: 1000, maxPerHost: 4, segments: 4, speedLimit: 7))
        keeper.apply(SettingsChange(values: [:], speedSchedule: nil))
        #expect(keeper.current.maxConcurrent == 1000)
        keeper.adopt(["maxConcurrent": "2", "segments": "999", "other": "1"])
        #expect(keeper.current == ServiceSettings(maxConcurrent: 2, maxPerHost: 4, segments: 4, speedLimit: 7))
    }

    @Test("A change that expects other settings does not begin")
    func expectation() {
        var keeper = SettingsKeeper(Self.settings)
        #expect(throws: DownloadError.preconditionFailed) { try keeper.begin { $0.segments == 5 } }
        #expect(keeper.change == nil)
        #expect(throws: Never.self) { try keeper.begin { $0.segments == 4 } }
        #expect(keeper.change != nil)
    }

    @Test(
        "Waiting changes go on after a change, or fail if it has waited for the store in vain",
        arguments: [(nil, nil), (.storeFailed("x"), nil), (.unconfirmed, .overloaded)] as [(DownloadError?, DownloadError?)])
    func followers(_ failure: DownloadError?, _ expected: DownloadError?) throws {
        let resumed = Locked<[DownloadError?]>([])
        var keeper = SettingsKeeper(Self.settings)
        try keeper.begin { _ in true }
        keeper.change?.whenDone { error in resumed.withLock { $0.append(error) } }
        keeper.end(after: failure)
        try keeper.begin { _ in true }
        keeper.end(after: nil)
        #expect(resumed.withLock { $0 } == [expected])
    }
}

@Suite("The trusted time in the store")
struct TrustedTimeKeeperTests {
    /// Readings of the clock: the trusted time and the wall clock in seconds; equal: not on probation.
    @Test(
        "Is kept while the wall clock is ahead, and removed once the clock has reached the times of all records",
        arguments: [
            (false, [(5, 5), (6, 6)], "- -"), (false, [(5, 90), (6, 91)], "5 -"), (true, [(5, 90), (6, 91)], "- -"),
            (true, [(5, 5)], "removed"), (false, [(5, 90), (90, 90), (91, 91)], "5 removed -"),
            // The clock was set back.
            (false, [(5, 90), (6, 95), (7, 7), (96, 96)], "5 - 7 -"), (false, [(5, 90), (7, 7), (8, 80)], "5 7 8"),
        ] as [(Bool, [(Int64, Int64)], String)])
    func changes(_ isKept: Bool, _ times: [(Int64, Int64)], _ expected: String) {
        func time(_ seconds: Int64) -> Timestamp { Timestamp(millisecondsSinceEpoch: seconds * 1_000) }
        var keeper = TrustedTimeKeeper(isKept ? [StoredContents.trustedTimeName: "1000"] : [:])
        let changes = times.map { trusted, wall -> String in
            let change = keeper.note(
                ServiceClock.Reading(trusted: time(trusted), wall: time(wall), isOnProbation: trusted != wall))
            guard case .set(StoredContents.trustedTimeName, let value)? = change else { return "-" }
            return value.map { String($0.dropLast(3)) } ?? "removed"
        }
        #expect(changes.joined(separator: " ") == expected)
    }
}
