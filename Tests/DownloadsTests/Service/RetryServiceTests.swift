import HTTPCore
import TestSupport
import Testing

@testable import DownloadCore
@testable import Downloads

/// Downloads that choose when failed attempts are repeated.
@Suite(.timeLimit(.minutes(2)))
struct RetryServiceTests {
    /// The download of a file that an origin sends from one request on, and the number of requests.
    private func end(
        of choice: RetryChoice, _ status: Int, _ fields: [(name: String, value: String)] = [], until number: Int = .max,
        configure: (inout DownloadsConfiguration) -> Void = { _ in }
    ) async throws -> (download: Download, requests: Int) {
        let fixture = try await ServiceFixture(configure: configure)
        let origin = try ScriptedOrigin { request in
            [request.number < number ? .response(status, fields) : .response(200, body: [1, 2, 3])]
        }
        var new = NewDownload(url: try #require(HTTPURL(origin.url("/file.bin"))))
        new.retry = choice
        let made = try await fixture.service.add(new).download
        let ended = try await fixture.end(of: made.id)
        await fixture.service.shutdown()
        return (ended, origin.requests.count)
    }

    @Test("A download fails after its own number of attempts", arguments: [0, 1, 3])
    func ownAttempts(attempts: Int) async throws {
        let (download, requests) = try await end(of: RetryChoice(attempts: attempts), 503)
        #expect(download.state == .failed && download.error?.httpStatus == 503)
        #expect(requests == max(attempts, 1) && download.attempts == requests)
        #expect(download.retry == RetryChoice(attempts: attempts, longestDelay: 1, statuses: []))
    }

    @Test("A download for ever outlasts more failures than the option allows")
    func forEver() async throws {
        let choice = RetryChoice(attempts: RetryChoice.forEver)
        let (download, requests) = try await end(of: choice, 503, until: 12) { $0.retry = RetryChoice(attempts: 2) }
        #expect(download.state == .completed && requests == 13)
    }

    @Test("Further statuses are retried, by a download's choice and by the operator's", arguments: [true, false])
    func furtherStatuses(isDownload: Bool) async throws {
        let choice = RetryChoice(statuses: [404])
        let (download, requests) = try await end(of: isDownload ? choice : RetryChoice(), 404, until: 3) {
            if !isDownload { $0.retry = choice }
        }
        #expect(download.state == .completed && requests == 4)
        let (failed, once) = try await end(of: RetryChoice(statuses: [410]), 404, until: 3)
        #expect(failed.state == .failed && once == 1)
    }

    @Test("A 202 with Retry-After is waited for longer than failures are, and one without is a failure")
    func notReady() async throws {
        let (download, requests) = try await end(of: RetryChoice(attempts: 2), 202, [("Retry-After", "0")], until: 4) {
            $0.retryDelay = (.milliseconds(1), .milliseconds(2))
        }
        #expect(download.state == .completed && requests == 5)
        let (failed, once) = try await end(of: RetryChoice(), 202)
        #expect(failed.state == .failed && failed.error?.httpStatus == 202 && once == 1)
    }
}
