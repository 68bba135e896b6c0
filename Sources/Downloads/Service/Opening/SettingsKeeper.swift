internal import DownloadCore
internal import HTTPCore
internal import System

/// A client's change of settings.
struct SettingsChange: Sendable {
    /// The new values by name.
    let values: [ServiceSettings.Name: Int64]
    /// The new schedule; `nil`: it does not change.
    let speedSchedule: SpeedSchedule?
    /// The new default webhooks; `nil`: they do not change.
    var webhooks: [HTTPURL]?

    /// The new values as the store keeps them, by their names there.
    var kept: [String: String] {
        var kept = Dictionary(uniqueKeysWithValues: values.map { ($0.key.rawValue, String($0.value)) })
        if let speedSchedule { kept[ServiceSettings.scheduleName] = speedSchedule.keptText }
        if let webhooks { kept[ServiceSettings.webhooksName] = ServiceSettings.keptText(of: webhooks) }
        return kept
    }
}

/// The settings in effect. They are changed by one request after another, so that the settings that a client expects
/// still hold when its change is made.
struct SettingsKeeper {
    private(set) var current: ServiceSettings
    /// The end of the present change; `nil`: none is being made.
    private(set) var change: RequestEnd?

    init(_ settings: ServiceSettings) {
        current = settings
    }

    /// Begins a change. No other change may be under way.
    /// - Parameter isExpected: Whether the present settings are those that the client means.
    /// - Throws: `preconditionFailed`.
    mutating func begin(if isExpected: (ServiceSettings) -> Bool) throws(DownloadError) {
        guard isExpected(current) else { throw .preconditionFailed }
        change = RequestEnd()
    }

    /// Puts a durable change into effect.
    mutating func apply(_ change: SettingsChange) {
        for (name, value) in change.values { current[name] = value }
        if let speedSchedule = change.speedSchedule { current.speedSchedule = speedSchedule }
        if let webhooks = change.webhooks { current.webhooks = webhooks }
    }

    /// Puts stored values into effect. Invalid ones count as absent.
    mutating func adopt(_ kept: [String: String]) {
        current = current.merged(withKept: kept, explicit: []).settings
    }

    /// Ends the present change, and resumes the requests that wait for it.
    mutating func end(after failure: DownloadError?) { change.take()?.resume(after: failure) }
}
