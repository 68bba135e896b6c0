internal import DownloadCore

/// The timers of the service. They share one alarm, which rings when the first of them is due.
struct ActorTimers {
    enum Key: Hashable, Sendable {
        case machine(RecordID, DownloadMachine.Timer)
        /// The earliest deadline of the requests that wait.
        case waitLimit
        /// The beginning of a minute, at which the speed limit may change.
        case speedSchedule
        /// The next observation of the running transfers.
        case pulse
    }

    private var times = IndexedHeap<Key, ContinuousClock.Instant>()
    private var alarm: (task: Task<Void, Never>, time: ContinuousClock.Instant)?
    private let ring: @Sendable () -> Void

    /// Creates the timers.
    /// - Parameter ring: Has ``takeDue(now:)`` and then ``renewAlarm()`` called. It must not wait.
    init(ring: @escaping @Sendable () -> Void) {
        self.ring = ring
    }

    /// Sets a timer, or sets it anew.
    mutating func set(_ key: Key, at time: ContinuousClock.Instant) {
        times.set(key, to: time)
        if let alarm, alarm.time <= time { return }
        renewAlarm()
    }

    /// Sets a timer that is not set already.
    mutating func begin(_ key: Key, at time: ContinuousClock.Instant) {
        if !times.contains(key) { set(key, at: time) }
    }

    /// Removes a timer.
    mutating func cancel(_ key: Key) { times.remove(key) }

    /// Removes a timer that is due.
    /// - Returns: The first such timer; `nil`: none is due.
    mutating func takeDue(now: ContinuousClock.Instant) -> Key? {
        guard let (key, time) = times.first, time <= now else { return nil }
        times.remove(key)
        return key
    }

    /// Sets the alarm to the first timer.
    mutating func renewAlarm() {
        stop()
        guard let time = times.first?.rank else { return }
        let task = Task { [ring] in
            do { try await Task.sleep(until: time, clock: .continuous) } catch { return }
            ring()
        }
        alarm = (task, time)
    }

    /// Removes the alarm.
    mutating func stop() {
        alarm?.task.cancel()
        alarm = nil
    }
}
