internal import HTTPClient
internal import HTTPCore
internal import System

/// Changes of the settings.
extension DownloadService {
    /// Changes settings. When it returns, they are durable and in effect: more downloads start if there are free slots,
    /// and running ones share the new speed limit. Lower numbers of downloads and connections take effect as these end.
    /// - Parameters:
    ///   - values: The new values by name, each in its range.
    ///   - speedSchedule: The new schedule; `nil`: it does not change.
    ///   - isExpected: Whether the present settings are those that the client means.
    /// - Returns: All settings afterwards.
    /// - Throws: `unconfirmed` (it may still happen); after all other errors, nothing has changed:
    ///   `preconditionFailed`, `overloaded`, `shuttingDown`, `insufficientStorage`, `storeFailed`.
    public func change(
        _ values: [ServiceSettings.Name: Int64], speedSchedule: SpeedSchedule? = nil,
        if isExpected: @Sendable (ServiceSettings) -> Bool = { _ in true }
    ) async throws(DownloadError) -> ServiceSettings {
        let deadline = ContinuousClock.now + Self.answerLimit
        // Changes are made one after another, so that the expected settings still hold when one is made.
        while isChangingSettings { try await follow(by: deadline) { settingsWaiters.append($0) } }
        guard !isShuttingDown else { throw .shuttingDown }
        guard isExpected(configuration.settings) else { throw .preconditionFailed }
        isChangingSettings = true
        var changes = Dictionary(uniqueKeysWithValues: values.map { ($0.key.rawValue, String($0.value)) })
        if let speedSchedule { changes[ServiceSettings.scheduleName] = speedSchedule.keptText }
        do throws(DownloadError) {
            if let settings = try await coordination.change(changes, if: isExpected, in: self) {
                endSettingsChange(nil)
                return settings
            }
        } catch {
            endSettingsChange(error)
            throw error
        }
        let commit = store.submit(changes.map { .set(name: $0.key, value: $0.value) })
        let outcome: StoreError?? = await self.result(by: deadline) { finish in commit.whenDone(finish) }
        guard let outcome else {
            // The change may still become durable, and takes effect then.
            Task { self.conclude(values, speedSchedule, await commit.failure()) }
            throw .unconfirmed
        }
        conclude(values, speedSchedule, outcome)
        if let outcome { throw DownloadError(outcome) }
        return configuration.settings
    }

    /// Applies changed settings unless their commit has failed, and lets other changes go on.
    private func conclude(_ values: [ServiceSettings.Name: Int64], _ speedSchedule: SpeedSchedule?, _ error: StoreError?) {
        if error == nil {
            for (name, value) in values { configuration.settings[name] = value }
            if let speedSchedule { configuration.settings.speedSchedule = speedSchedule }
            applySettings()
        }
        endSettingsChange(error.map { DownloadError($0) })
    }

    private func endSettingsChange(_ failure: DownloadError?) {
        isChangingSettings = false
        for waiter in settingsWaiters { waiter(Self.passedOn(failure)) }
        settingsWaiters = []
    }

    func applySettings() {
        let settings = configuration.settings
        queue.limits = coordination.limits(settings)
        limitSpeed()
        coordination.noteFreeSlots()
        schedule()
    }

    /// Applies the present speed limit. With a schedule, it is applied again at the beginning of the next minute:
    /// entries begin and end with minutes, and a changed clock is noticed within one.
    func limitSpeed() {
        let settings = configuration.settings
        // With the lowest limit, connections stay and no attempt fails.
        speedLimiter.setLimit(bytesPerSecond: coordination.isIdling ? 1 : settings.speedLimit(now: clock.now))
        guard !settings.speedSchedule.entries.isEmpty, !isShuttingDown else { return }
        let millisecond = (clock.now.millisecondsSinceEpoch % 60_000 + 60_000) % 60_000
        setTimer(.speedSchedule, at: .now + .milliseconds(60_000 - millisecond))
    }
}

extension ServiceSettings {
    /// Returns the present limit over all downloads in bytes per second, by the local time of the process.
    func speedLimit(now: Timestamp) -> Int64 {
        speedLimit(at: now, offset: SystemTime.localOffset(secondsSinceEpoch: now.millisecondsSinceEpoch / 1000))
    }
}
