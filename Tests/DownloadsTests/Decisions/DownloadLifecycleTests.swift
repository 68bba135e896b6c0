import Testing

@testable import Downloads

struct DownloadLifecycleTests {
    /// The contract's table; `nil` is a refusal.
    static let commands: [(DownloadState, DownloadCommand, DownloadState?)] = [
        (.queued, .pause, .paused), (.queued, .resume, .queued), (.queued, .cancel, .cancelled), (.queued, .retry, nil),
        (.downloading, .pause, .paused), (.downloading, .resume, .downloading), (.downloading, .cancel, .cancelled),
        (.downloading, .retry, nil),
        (.retrying, .pause, .paused), (.retrying, .resume, .retrying), (.retrying, .cancel, .cancelled),
        (.retrying, .retry, nil),
        (.paused, .pause, .paused), (.paused, .resume, .queued), (.paused, .cancel, .cancelled), (.paused, .retry, nil),
        (.failed, .pause, nil), (.failed, .resume, .queued), (.failed, .cancel, .cancelled), (.failed, .retry, .queued),
        (.cancelled, .pause, nil), (.cancelled, .resume, nil), (.cancelled, .cancel, .cancelled),
        (.cancelled, .retry, .queued),
        (.completed, .pause, nil), (.completed, .resume, nil), (.completed, .cancel, nil), (.completed, .retry, nil),
    ]

    @Test func `the table has every state and command`() {
        #expect(Self.commands.count == DownloadState.allCases.count * DownloadCommand.allCases.count)
    }

    @Test(arguments: commands)
    func `a command does what the table says`(_ from: DownloadState, _ command: DownloadCommand, _ to: DownloadState?) {
        var lifecycle = DownloadLifecycle(from)
        let reaction = lifecycle.handle(.command(command))
        #expect(lifecycle.state == to ?? from)
        switch reaction {
        case .refused: #expect(to == nil)
        case .unchanged: #expect(to == from)
        case .moved(let actions):
            #expect(to != nil && to != from)
            // Bytes go exactly when something is cancelled or started from zero.
            #expect(actions.contains(.discardBytes) == (command == .cancel || command == .retry))
            // What the state left behind held is put away; what the new one needs is got.
            #expect(actions.contains(.stopTransfer) == (from == .downloading))
            #expect(actions.contains(.leaveQueue) == (from == .queued))
            #expect(actions.contains(.cancelRetry) == (from == .retrying))
            #expect(actions.contains(.enterQueue) == (to == .queued))
            #expect(actions.contains(.announceEnd) == (to == .cancelled))
            #expect(actions.contains(.forgetFailures) == (to == .queued))
        }
    }

    @Test(
        arguments: [
            (.queued, .slotGranted, .downloading, [.startTransfer]),
            (.downloading, .published, .completed, [.clearError, .releaseSlot, .announceEnd]),
            (.downloading, .attemptFailed(.giveUp), .failed, [.releaseSlot, .announceEnd]),
            (
                .downloading, .attemptFailed(.retry(after: .seconds(3))), .retrying, [.scheduleRetry(after: .seconds(3))]
            ),
            (.retrying, .retryDue, .queued, [.enterQueue]),
            (.queued, .restored, .queued, [.enterQueue]),
            (.downloading, .restored, .queued, [.enterQueue]),
            (.retrying, .restored, .queued, [.enterQueue]),
            (.queued, .relinked, .queued, [.leaveQueue, .enterQueue]),
            (.downloading, .relinked, .queued, [.stopTransfer, .forgetFailures, .enterQueue]),
            (.retrying, .relinked, .queued, [.cancelRetry, .forgetFailures, .enterQueue]),
        ] as [(DownloadState, DownloadLifecycle.Event, DownloadState, [DownloadLifecycle.Action])])
    func `an outcome moves it on`(
        _ from: DownloadState, _ event: DownloadLifecycle.Event, _ to: DownloadState, _ actions: [DownloadLifecycle.Action]
    ) {
        var lifecycle = DownloadLifecycle(from)
        #expect(lifecycle.handle(event) == .moved(actions))
        #expect(lifecycle.state == to)
    }

    @Test(
        arguments: [
            (.slotGranted, [.downloading, .paused, .retrying, .completed, .failed, .cancelled]),
            (.published, [.queued, .paused, .retrying, .completed, .failed, .cancelled]),
            (.attemptFailed(.giveUp), [.queued, .paused, .retrying, .completed, .failed, .cancelled]),
            (.attemptFailed(.retry(after: .zero)), [.queued, .paused, .retrying, .completed, .failed, .cancelled]),
            (.retryDue, [.queued, .downloading, .paused, .completed, .failed, .cancelled]),
            (.restored, [.paused, .completed, .failed, .cancelled]),
        ] as [(DownloadLifecycle.Event, [DownloadState])])
    func `an outcome that comes late changes nothing`(_ event: DownloadLifecycle.Event, _ states: [DownloadState]) {
        for state in states {
            var lifecycle = DownloadLifecycle(state)
            #expect(lifecycle.handle(event) == .unchanged)
            #expect(lifecycle.state == state)
        }
    }
}
