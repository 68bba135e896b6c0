internal import DownloadCore
public import HTTPCore

/// Decides when the origin of an episode is asked again for a file that is not there yet.
///
/// Programs list an episode before its file is at all servers of a network. Until then the origin responds that there is
/// none, or with a page.
public enum MissingFile {
    /// The time in seconds after its addition for which the file of a download is awaited: two weeks.
    private static let patience: Int64 = 14 * 86_400
    /// The number of attempts in that time.
    private static let maximumAttempts = 22
    /// The shortest and the longest wait between two requests in seconds.
    private static let waits: ClosedRange<Int64> = 300...86_400

    /// Returns whether a failure means that the file is not there.
    static func isMissing(_ failure: DownloadFailure) -> Bool {
        switch failure.code {
        case .httpStatus: failure.httpStatus == 404 || failure.httpStatus == 403
        case .mediaTypeMismatch: true
        default: false
        }
    }

    /// Returns the wait before the next request in milliseconds, from 0; `nil` if the file is not awaited any more.
    ///
    /// Each wait is as long as all the time before it, from five minutes to a day. The number of attempts tells how long that
    /// is at most, so a clock that was set makes neither few requests nor a long wait.
    /// - Parameters:
    ///   - added: The time of the download's addition.
    ///   - failed: The time of its last failure.
    ///   - attempts: The number of its attempts.
    public static func wait(added: Timestamp, failed: Timestamp, attempts: Int, now: Timestamp) -> Int64? {
        let age = failed.millisecondsSinceEpoch - added.millisecondsSinceEpoch
        guard attempts < maximumAttempts || (0..<patience * 1000).contains(age) else { return nil }
        let usual = (waits.lowerBound * 1000) << (min(max(attempts, 1), maximumAttempts) - 1)
        let length = min(max(age < 0 ? usual : min(age, usual), waits.lowerBound * 1000), waits.upperBound * 1000)
        return min(max(0, failed.millisecondsSinceEpoch + length - now.millisecondsSinceEpoch), length)
    }
}

extension Download {
    /// The wait in milliseconds before its origin is asked again for the file; `nil` if the file is not awaited.
    func waitForFile(_ now: Timestamp) -> Int64? {
        guard state == .failed, let error, MissingFile.isMissing(error) else { return nil }
        return MissingFile.wait(added: createdAt, failed: endedAt ?? updatedAt, attempts: attempts, now: now)
    }
}
