internal import HTTPCore

/// What can be changed about the service while it runs, and is kept over restarts.
public struct ServiceSettings: Sendable, Equatable {
    /// The settings that are numbers, by the names that the API and the store have for them.
    public enum Name: String, Sendable, CaseIterable {
        case maxConcurrent, maxPerHost, segments, speedLimit

        /// What a value may be.
        public var range: ClosedRange<Int64> {
            switch self {
            case .maxConcurrent, .maxPerHost: 1...1000
            case .segments: 1...16
            case .speedLimit: 0...Int64.max
            }
        }
    }

    /// Downloads that transfer at once.
    public var maxConcurrent: Int
    /// Of those, downloads from one origin host and port.
    public var maxPerHost: Int
    /// Most connections for one large file.
    public var segments: Int
    /// Bytes per second over all downloads where the schedule has no entry; 0 is no limit.
    public var speedLimit: Int64
    /// Limits over all downloads for certain times of the week.
    public var speedSchedule = SpeedSchedule()

    /// The name that the API and the store have for the schedule.
    public static let scheduleName = "speedSchedule"

    /// What limits all downloads at a moment, in bytes per second; 0 is no limit.
    func speedLimit(at time: Timestamp, offset: Int) -> Int64 {
        speedSchedule.bytesPerSecond(at: time, offset: offset) ?? speedLimit
    }

    /// The value of one of them. Setting one that is out of range sets the nearest that is not.
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
            let value = min(max(newValue, name.range.lowerBound), name.range.upperBound)
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
    /// What holds at a start: a value given explicitly wins, then one that was kept, then the default.
    /// - Parameters:
    ///   - kept: what the store has, by name. What is no valid value counts as absent.
    ///   - explicit: those whose value in `self` the operator has given for this start.
    ///   - isScheduleExplicit: whether the operator has given the schedule.
    /// - Returns: the settings, and what of them has to be kept now.
    func merged(
        withKept kept: [String: String], explicit: Set<Name>, isScheduleExplicit: Bool = false
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
        return (settings, changes)
    }
}
