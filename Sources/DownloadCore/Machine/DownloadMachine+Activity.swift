extension DownloadMachine {
    /// The work and the resources of a machine, as far as the service counts and releases them.
    ///
    /// It is public and inlinable, so that other modules read it without a call.
    public struct Activity: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt8

        /// Creates an activity from its bits.
        @inlinable public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Work is under way, or a command waits.
        public static let busy = Activity(rawValue: 1)
        /// The file is being verified or published.
        public static let finishing = Activity(rawValue: 2)
        /// The transfer's counters count bytes of the record's entity. Before a response is accepted, they do not.
        public static let receiving = Activity(rawValue: 4)
        /// The download uses disk space that its published record does not contain yet.
        public static let takingRoom = Activity(rawValue: 8)
        /// The part file must stay open.
        public static let usingFile = Activity(rawValue: 16)
        /// No work is under way, and the durable record contains everything that is needed to go on.
        public static let idle = Activity(rawValue: 32)
        /// The download has ended, and the durable record contains everything. The machine is no longer needed.
        public static let done = Activity(rawValue: 64)
    }

    /// The activity that follows from the present phase, saves and commands.
    var currentActivity: Activity {
        var activity: Activity = []
        let hasPhaseWork =
            switch phase {
            case .idle, .waiting, .delayed, .removed: false
            default: true
            }
        let takesRoom = if case .flushing = phase { true } else { holdsSlot || isFinishing }
        if hasPhaseWork || bytes.isFlushing { activity.insert(.usingFile) }
        if hasPhaseWork || bytes.isFlushing || !saves.isEmpty || !commands.isEmpty { activity.insert(.busy) }
        if phase.hasAccepted { activity.insert(.receiving) }
        if isFinishing { activity.insert(.finishing) }
        if takesRoom { activity.insert(.takingRoom) }
        guard !activity.contains(.busy), lingering.isEmpty, saves.isSettled else { return activity }
        switch phase {
        case .idle: activity.formUnion(state.isLive ? .idle : [.idle, .done])
        case .waiting: activity.insert(.idle)
        case .removed: activity.insert(.done)
        default: break
        }
        return activity
    }
}
