internal import HTTPClient

extension DownloadService {
    /// The settings as they are now.
    public var settings: ServiceSettings { configuration.settings }

    /// Changes settings. When it returns, they are on disk and in effect: more downloads start where there is room, running ones
    /// share the new speed limit. Lowering the numbers of downloads and connections stops none; it takes effect as they end.
    /// - Parameters:
    ///   - values: the new values by name, each in its range.
    ///   - isExpected: whether the settings, as they stand, are those that are meant to be changed.
    /// - Returns: all settings afterwards.
    /// - Throws: `preconditionFailed` or `storeFailed`, and nothing is changed then.
    public func change(
        _ values: [ServiceSettings.Name: Int64], if isExpected: @Sendable (ServiceSettings) -> Bool = { _ in true }
    ) async throws(DownloadError) -> ServiceSettings {
        // One after another, so that what was expected still holds when the change is made.
        while isChangingSettings { await withCheckedContinuation { settingsWaiters.append($0) } }
        guard !isShuttingDown else { throw .shuttingDown }
        guard isExpected(configuration.settings) else { throw .preconditionFailed }
        isChangingSettings = true
        defer {
            isChangingSettings = false
            for waiter in settingsWaiters { waiter.resume() }
            settingsWaiters = []
        }
        do throws(StoreError) {
            try await store.submit(values.map { .set(name: $0.key.rawValue, value: String($0.value)) }).wait()
        } catch {
            throw DownloadError(error)
        }
        var settings = configuration.settings
        for (name, value) in values { settings[name] = value }
        configuration.settings = settings
        queue.limits = DownloadQueue.Limits(maxConcurrent: settings.maxConcurrent, maxPerHost: settings.maxPerHost)
        speedLimiter.setLimit(bytesPerSecond: settings.speedLimit)
        schedule()
        return settings
    }
}
