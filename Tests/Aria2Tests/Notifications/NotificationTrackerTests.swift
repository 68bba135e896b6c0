import DownloadCore
import HTTPCore
import Testing

@testable import Aria2

@Suite("Notifications of clients")
struct NotificationTrackerTests {
    private static let beginning = Timestamp(millisecondsSinceEpoch: 1_000)

    private func download(_ state: DownloadState, _ number: UInt128 = 1, createdAt: Int64 = 2_000) -> Download {
        Download(
            id: RecordID(value: number), url: "http://h/a", state: state,
            createdAt: Timestamp(millisecondsSinceEpoch: createdAt))
    }

    /// The notifications for each sequence of states of a new download.
    private func notifications(_ states: [DownloadState]) -> String {
        var tracker = NotificationTracker([], at: Self.beginning)
        return states.flatMap { tracker.update(download($0)) }
            .map { $0.rawValue.replacing("aria2.onDownload", with: "") }.joined(separator: " ")
    }

    @Test("Sends one notification for each transition")
    func transitions() {
        let cases: [([DownloadState], String)] = [
            ([.queued, .downloading, .completed], "Start Complete"),
            ([.queued, .downloading, .downloading, .failed], "Start Error"),
            ([.queued, .downloading, .paused, .queued, .downloading, .completed], "Start Pause Start Complete"),
            ([.queued, .downloading, .cancelled], "Start Stop"),
            ([.queued, .downloading, .retrying, .downloading, .retrying, .completed], "Start Complete"),
            // Between two attempts a download may wait for a slot.
            ([.queued, .downloading, .retrying, .queued, .downloading, .completed], "Start Complete"),
            ([.paused], ""), ([.paused, .queued, .downloading], "Start"), ([.queued, .paused], ""), ([.queued, .cancelled], ""),
            ([.paused, .cancelled], ""), ([.queued, .queued], ""),
            // Changes after the end: labels, or a missing file.
            ([.queued, .downloading, .completed, .completed], "Start Complete"),
            ([.queued, .downloading, .failed, .failed, .queued, .downloading, .completed], "Start Error Start Complete"),
            ([.downloading, .cancelled, .queued, .downloading, .failed], "Start Stop Start Error"),
            // Intermediate states are missed if they are read late.
            ([.completed], "Start Complete"), ([.failed], "Start Error"), ([.queued, .completed], "Start Complete"),
        ]
        for (states, expected) in cases { #expect(notifications(states) == expected, "\(states.map(\.rawValue))") }
    }

    @Test("Sends no notification for downloads that were active or ended before")
    func before() {
        var tracker = NotificationTracker(
            [download(.downloading, 1, createdAt: 0), download(.queued, 2, createdAt: 0), download(.retrying, 3, createdAt: 0)],
            at: Self.beginning)
        #expect(tracker.update(download(.downloading, 1, createdAt: 0)) == [])
        #expect(tracker.update(download(.completed, 1, createdAt: 0)) == [.complete])
        #expect(tracker.update(download(.downloading, 2, createdAt: 0)) == [.start])
        #expect(tracker.update(download(.downloading, 3, createdAt: 0)) == [])
        #expect(tracker.update(download(.completed, 4, createdAt: 0)) == [])
        #expect(tracker.update(download(.failed, 5, createdAt: 0)) == [])
        #expect(tracker.update(download(.downloading, 6, createdAt: 0)) == [.start])
    }

    @Test("Removes the state of removed downloads")
    func removal() {
        var tracker = NotificationTracker([], at: Self.beginning)
        for number in 1...10 as ClosedRange<UInt128> { _ = tracker.update(download(.downloading, number)) }
        #expect(tracker.count == 10)
        for number in 1...10 as ClosedRange<UInt128> { tracker.remove(RecordID(value: number)) }
        #expect(tracker.count == 0)
    }

    @Test("A notification has no id and one gid")
    func encoding() throws {
        let gid = try #require(DownloadGID("00000000000000ab"))
        #expect(
            String(decoding: RPCNotification.stop.encoded(gid), as: UTF8.self)
                == #"{"jsonrpc":"2.0","method":"aria2.onDownloadStop","params":[{"gid":"00000000000000ab"}]}"#)
    }
}
