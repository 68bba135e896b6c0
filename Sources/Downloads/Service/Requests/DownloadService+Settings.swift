public import DownloadCore
internal import DownloadStore
internal import HTTPClient
public import HTTPCore
internal import System

/// Changes of the settings.
extension DownloadService {
    /// Changes settings. When it returns, they are durable and in effect: more downloads start if there are free slots,
    /// and running ones share the new speed limit. Lower numbers of downloads and connections take effect as these end.
    /// - Parameters:
    ///   - values: The new values by name, each in its range.
    ///   - speedSchedule: The new schedule; `nil`: it does not change.
    ///   - webhooks: The new default webhooks; `nil`: they do not change.
    ///   - isExpected: Whether the present settings are those that the client means.
    /// - Returns: All settings afterwards.
    /// - Throws: `unconfirmed` (it may still happen); after all other errors, nothing has changed:
    ///   `preconditionFailed`, `overloaded`, `shuttingDown`, `insufficientStorage`, `storeFailed`, `invalid`,
    ///   `destinationForbidden`.
    public func change(
        _ values: [ServiceSettings.Name: Int64], speedSchedule: SpeedSchedule? = nil, webhooks: [HTTPURL]? = nil,
        if isExpected: @Sendable (ServiceSettings) -> Bool = { _ in true }
    ) async throws(DownloadError) -> ServiceSettings {
        if let webhooks { try parts.rules.check(webhooks: webhooks) }
        let deadline = ContinuousClock.now + Self.answerLimit
        while let change = settingsKeeper.change { try await follow(change, by: deadline) }
        guard !isShuttingDown else { throw .shuttingDown }
        try settingsKeeper.begin(if: isExpected)
        let change = SettingsChange(
            values: values, speedSchedule: speedSchedule,
            webhooks: webhooks.map(settingsKeeper.current.restoringUserInfo))
        do throws(DownloadError) {
            if let settings = try await coordination.change(change.kept, if: isExpected, in: self) {
                settingsKeeper.end(after: nil)
                return settings
            }
        } catch {
            settingsKeeper.end(after: error)
            throw error
        }
        let commit = store.submit(change.kept.map { .set(name: $0.key, value: $0.value) })
        let outcome: StoreError?? = await self.result(by: deadline, commit.whenDone)
        guard let outcome else {
            // The change may still become durable, and takes effect then.
            Task { self.conclude(change, await commit.value()) }
            throw .unconfirmed
        }
        conclude(change, outcome)
        if let outcome { throw DownloadError(outcome) }
        return settings
    }

    /// Applies changed settings unless their commit has failed, and lets other changes go on.
    private func conclude(_ change: SettingsChange, _ error: StoreError?) {
        if error == nil {
            settingsKeeper.apply(change)
            applySettings()
        }
        settingsKeeper.end(after: error.map { DownloadError($0) })
    }

    func applySettings() {
        let settings = settings
        context.defaultWebhooks.urls = settings.webhooks
        queue.limits = parts.slotLimits(settings)
        limitSpeed()
        schedule()
    }

    /// Applies the present speed limit. With a schedule, it is applied again at the beginning of the next minute:
    /// entries begin and end with minutes, and a changed clock is noticed within one.
    func limitSpeed() {
        let settings = settings
        // With the lowest limit, connections stay and no attempt fails.
        speedLimiter.setLimit(bytesPerSecond: coordination.isThrottled ? 1 : settings.speedLimit(now: clock.now))
        guard !settings.speedSchedule.entries.isEmpty, !isShuttingDown else { return }
        let millisecond = (clock.now.millisecondsSinceEpoch % 60_000 + 60_000) % 60_000
        timers.set(.speedSchedule, at: .now + .milliseconds(60_000 - millisecond))
    }
}

extension ServiceSettings {
    /// Returns the present limit over all downloads in bytes per second, by the local time of the process.
    func speedLimit(now: Timestamp) -> Int64 {
        speedLimit(at: now, offset: SystemTime.localOffset(secondsSinceEpoch: now.millisecondsSinceEpoch / 1000))
    }
}
