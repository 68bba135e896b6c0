/// The life of one download: what commands and outcomes make of its state, and what then has to be done.
///
///     queued ⇄ downloading → completed
///       ↑  ↘      ↓   ↘
///       │    paused    retrying → queued
///       └──── failed ←───┘           any live state → cancelled
///
/// An outcome that arrives in another state than `downloading` belongs to a transfer that has been stopped meanwhile, and
/// changes nothing: whoever runs transfers lets a stopped one end before the next of the same download begins.
struct DownloadLifecycle: Sendable, Equatable {
    private(set) var state: DownloadState

    init(_ state: DownloadState = .queued) {
        self.state = state
    }

    /// What can happen to a download.
    enum Event: Sendable, Equatable {
        /// A user wants something.
        case command(DownloadCommand)
        /// The queue gave it a slot.
        case slotGranted
        /// The attempt failed, and the retry policy has judged.
        case attemptFailed(RetryPolicy.Verdict)
        /// The file is published and verified.
        case published
        /// The delay before the next attempt is over.
        case retryDue
        /// The service has started anew and found it in the store.
        case restored
        /// A user has given it another URL for the same content.
        case relinked
    }

    /// What has to be done, in this order.
    enum Action: Sendable, Equatable {
        /// Leave the queue.
        case leaveQueue
        /// Stop the transfer, sync its bytes and give the slot back.
        case stopTransfer
        /// Forget the timer of the next attempt.
        case cancelRetry
        /// Delete the part file; forget validators, segments, counters and, unless the user chose it, the name.
        case discardBytes
        /// Forget the error and begin counting fruitless attempts anew: a user has asked.
        case forgetFailures
        /// Forget the error only.
        case clearError
        /// Enter the queue.
        case enterQueue
        /// Begin a transfer from the bytes there are.
        case startTransfer
        /// Give the slot back and try again after the delay.
        case scheduleRetry(after: Duration)
        /// Give the slot back.
        case releaseSlot
        /// Tell those who wait for the end.
        case announceEnd
    }

    /// What an event came to.
    enum Reaction: Sendable, Equatable {
        /// The state is a new one; do these.
        case moved([Action])
        /// Nothing to do: it already is what was wanted, or the event comes late.
        case unchanged
        /// The command is not possible in this state.
        case refused
    }

    /// Takes an event.
    mutating func handle(_ event: Event) -> Reaction {
        switch event {
        case .command(.pause): pause()
        case .command(.resume): resume()
        case .command(.cancel): cancel()
        case .command(.retry): retry()
        case .slotGranted: slotGranted()
        case .attemptFailed(let verdict): attemptFailed(verdict)
        case .published: published()
        case .retryDue: retryDue()
        case .restored: restored()
        case .relinked: relinked()
        }
    }
}

// MARK: - Commands

extension DownloadLifecycle {
    private mutating func pause() -> Reaction {
        switch state {
        case .queued, .downloading, .retrying: move(to: .paused, leaving: state)
        case .paused: .unchanged
        case .completed, .failed, .cancelled: .refused
        }
    }

    private mutating func resume() -> Reaction {
        switch state {
        case .queued, .downloading, .retrying: .unchanged
        case .paused, .failed: move(to: .queued, then: [.forgetFailures, .enterQueue])
        case .completed, .cancelled: .refused
        }
    }

    private mutating func cancel() -> Reaction {
        switch state {
        case .queued, .downloading, .retrying, .paused, .failed:
            move(to: .cancelled, leaving: state, then: [.discardBytes, .clearError, .announceEnd])
        case .cancelled: .unchanged
        case .completed: .refused
        }
    }

    private mutating func retry() -> Reaction {
        switch state {
        case .failed, .cancelled: move(to: .queued, then: [.discardBytes, .forgetFailures, .enterQueue])
        case .queued, .downloading, .retrying, .paused, .completed: .refused
        }
    }
}

// MARK: - Outcomes

extension DownloadLifecycle {
    private mutating func slotGranted() -> Reaction {
        guard state == .queued else { return .unchanged }
        return move(to: .downloading, then: [.startTransfer])
    }

    private mutating func attemptFailed(_ verdict: RetryPolicy.Verdict) -> Reaction {
        guard state == .downloading else { return .unchanged }
        return switch verdict {
        case .retry(let delay): move(to: .retrying, then: [.scheduleRetry(after: delay)])
        case .giveUp: move(to: .failed, then: [.releaseSlot, .announceEnd])
        }
    }

    private mutating func published() -> Reaction {
        guard state == .downloading else { return .unchanged }
        return move(to: .completed, then: [.clearError, .releaseSlot, .announceEnd])
    }

    private mutating func retryDue() -> Reaction {
        guard state == .retrying else { return .unchanged }
        // The error stays visible until the next attempt succeeds.
        return move(to: .queued, then: [.enterQueue])
    }

    private mutating func restored() -> Reaction {
        switch state {
        case .queued, .downloading, .retrying: move(to: .queued, then: [.enterQueue])
        case .paused, .completed, .failed, .cancelled: .unchanged
        }
    }

    /// What transfers, or would soon, goes on with the new URL; what rests goes on resting.
    private mutating func relinked() -> Reaction {
        switch state {
        case .queued: move(to: .queued, leaving: state, then: [.enterQueue])
        case .downloading, .retrying: move(to: .queued, leaving: state, then: [.forgetFailures, .enterQueue])
        case .paused, .completed, .failed, .cancelled: .unchanged
        }
    }

    /// Moves on, after putting away what the state left behind holds.
    private mutating func move(
        to next: DownloadState, leaving: DownloadState? = nil, then actions: [Action] = []
    ) -> Reaction {
        state = next
        return switch leaving {
        case .queued: .moved([.leaveQueue] + actions)
        case .downloading: .moved([.stopTransfer] + actions)
        case .retrying: .moved([.cancelRetry] + actions)
        case .paused, .completed, .failed, .cancelled, nil: .moved(actions)
        }
    }
}
