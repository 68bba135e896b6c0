public import HTTPCore

/// Settings of the service that can change while it runs. They are kept over restarts.
public struct ServiceSettings: Sendable, Equatable {
    /// The numeric settings, by their names in the API and in the store.
    public enum Name: String, Sendable, CaseIterable {
        case maxConcurrent, maxPerHost, segments, speedLimit

        /// The valid values.
        public var range: ClosedRange<Int64> {
            switch self {
            case .maxConcurrent, .maxPerHost: 1...1000
            case .segments: Int64(DownloadLimits.segments.lowerBound)...Int64(DownloadLimits.segments.upperBound)
            case .speedLimit: 0...Int64.max
            }
        }
    }

    /// The maximum number of downloads that transfer at once.
    public var maxConcurrent: Int
    /// The maximum number of downloads that transfer at once from one origin's host and port.
    public var maxPerHost: Int
    /// The maximum number of connections for one large file.
    public var segments: Int
    /// The limit over all downloads in bytes per second, outside the entries of the schedule; 0 is no limit.
    public var speedLimit: Int64
    /// Limits over all downloads for certain times of the week.
    public var speedSchedule = SpeedSchedule()
    /// The default webhooks.
    public var webhooks: [HTTPURL] = []

    package init(
        maxConcurrent: Int, maxPerHost: Int, segments: Int, speedLimit: Int64, speedSchedule: SpeedSchedule = SpeedSchedule(),
        webhooks: [HTTPURL] = []
    ) {
        self.maxConcurrent = maxConcurrent
        self.maxPerHost = maxPerHost
        self.segments = segments
        self.speedLimit = speedLimit
        self.speedSchedule = speedSchedule
        self.webhooks = webhooks
    }

    /// The schedule's name in the API and in the store.
    public static let scheduleName = "speedSchedule"
    /// The name of the default webhooks in the API and in the store.
    public static let webhooksName = "webhooks"

    /// Returns the limit over all downloads at a time, in bytes per second; 0 is no limit.
    package func speedLimit(at time: Timestamp, offset: Int) -> Int64 {
        speedSchedule.bytesPerSecond(at: time, offset: offset) ?? speedLimit
    }

    /// The value of a setting. Setting a value that is out of range sets the nearest valid one.
    public subscript(name: Name) -> Int64 {
        get {
            switch name {
            case .maxConcurrent: Int64(maxConcurrent)
            case .maxPerHost: Int64(maxPerHost)
            case .segments: Int64(segments)
            case .speedLimit: speedLimit
            }
        }
        set {
            let value = name.range.nearest(to: newValue)
            switch name {
            case .maxConcurrent: maxConcurrent = Int(clamping: value)
            case .maxPerHost: maxPerHost = Int(clamping: value)
            case .segments: segments = Int(clamping: value)
            case .speedLimit: speedLimit = value
            }
        }
    }
}

extension ServiceSettings {
    /// Merges these settings with stored ones at a start.
    ///
    /// A value that the operator has given explicitly wins, then a stored value, then the default.
    /// - Parameters:
    ///   - kept: The stored values by name. Invalid values count as absent.
    ///   - explicit: The settings whose value in `self` the operator has given for this start.
    ///   - isScheduleExplicit: Whether the operator has given the schedule.
    ///   - areWebhooksExplicit: Whether the operator has given the default webhooks.
    /// - Returns: The merged settings, and the changes to store.
    package func merged(
        withKept kept: [String: String], explicit: Set<Name>, isScheduleExplicit: Bool = false, areWebhooksExplicit: Bool = false
    ) -> (settings: ServiceSettings, changes: [StoreChange]) {
        var settings = self
        var changes: [StoreChange] = []
        for name in Name.allCases {
            let known = kept[name.rawValue].flatMap { Int64($0) }.flatMap { name.range.contains($0) ? $0 : nil }
            if explicit.contains(name) {
                if known != self[name] { changes.append(.set(name: name.rawValue, value: String(self[name]))) }
            } else if let known {
                settings[name] = known
            }
        }
        let known = kept[Self.scheduleName].flatMap { SpeedSchedule(kept: $0) }
        if isScheduleExplicit {
            if known != speedSchedule { changes.append(.set(name: Self.scheduleName, value: speedSchedule.keptText)) }
        } else if let known {
            settings.speedSchedule = known
        }
        let urls = kept[Self.webhooksName].flatMap(Self.webhooks(kept:))
        if areWebhooksExplicit {
            if urls != webhooks { changes.append(.set(name: Self.webhooksName, value: Self.keptText(of: webhooks))) }
        } else if let urls {
            settings.webhooks = urls
        }
        return (settings, changes)
    }
}

/// The default webhooks among the settings.
extension ServiceSettings {
    /// Returns the stored form of default webhooks.
    package static func keptText(of webhooks: [HTTPURL]) -> String {
        webhooks.map(\.string).joined(separator: "\n")
    }

    /// Parses the stored form; `nil` if it is not a list of URLs.
    private static func webhooks(kept text: String) -> [HTTPURL]? {
        let lines = text.split(separator: "\n")
        let urls = lines.compactMap { HTTPURL(String($0)) }
        return urls.count == lines.count && urls.count <= DefaultWebhooks.limit ? urls : nil
    }

    /// Returns a client's list of default webhooks with the passwords that no client sees: a URL that is shown without
    /// its user information keeps it. Of several that are shown alike, each keeps its own, in their order.
    package func restoringUserInfo(in urls: [HTTPURL]) -> [HTTPURL] {
        var left = webhooks.filter { !urls.contains($0) || !$0.hasUserInfo }
        return urls.map { url in
            guard !url.hasUserInfo, let index = left.firstIndex(where: { $0.withoutUserInfo == url }) else { return url }
            return left.remove(at: index)
        }
    }
}
