public import HTTPCore

/// Speed limits for certain times of the week, such as `mon-fri 08:00-18:00 1M`. The first entry
/// that covers a time decides.
///
/// Times follow the local wall clock. At a change of summer time, no entry covers an hour that is skipped. An
/// hour that is repeated is covered twice.
public struct SpeedSchedule: Sendable, Equatable {
    /// The maximum number of entries, which are searched one by one.
    public static let maximumEntries = 32
    /// The maximum number of characters in an entry.
    public static let longestEntry = 200

    /// One limit and the times at which it applies.
    public struct Entry: Sendable, Equatable {
        /// The entry as it was written.
        public let text: String
        /// The limit in bytes per second; 0 is no limit.
        public let bytesPerSecond: Int64
        /// A bit for each day on which the entry begins. The lowest bit is Monday.
        fileprivate let days: UInt8
        /// The start and the end in minutes of the day, 0…1439 and 0…1440. An end that is not after the
        /// start is on the next day.
        fileprivate let start: Int
        fileprivate let end: Int
    }

    /// The entries in order.
    public let entries: [Entry]

    /// Creates a schedule of these entries.
    public init(_ entries: [Entry] = []) {
        self.entries = entries
    }

    /// Returns the limit at a time in bytes per second, 0 for none; `nil` if no entry covers the time.
    /// - Parameter offset: The seconds by which the local time is ahead of UTC at that time.
    public func bytesPerSecond(at time: Timestamp, offset: Int) -> Int64? {
        guard !entries.isEmpty else { return nil }
        let (days, minute) = Self.split(time, offset)
        // 1 January 1970 was a Thursday.
        let weekday = Int((days % 7 + 7 + 3) % 7)
        return entries.first { $0.covers(weekday: weekday, minute: minute) }?.bytesPerSecond
    }

    private static func split(_ time: Timestamp, _ offset: Int) -> (days: Int64, minute: Int) {
        let milliseconds = time.millisecondsSinceEpoch
        let seconds = (milliseconds - ((milliseconds % 1000 + 1000) % 1000)) / 1000 + Int64(offset)
        let second = (seconds % 86400 + 86400) % 86400
        return ((seconds - second) / 86400, Int(second / 60))
    }
}

extension SpeedSchedule.Entry {
    fileprivate func covers(weekday: Int, minute: Int) -> Bool {
        let begins = days >> UInt8(weekday) & 1 == 1
        if start < end { return begins && (start..<end).contains(minute) }
        let began = days >> UInt8((weekday + 6) % 7) & 1 == 1
        return begins && minute >= start || began && minute < end
    }
}

// MARK: - Parsing

/// The refusal of an entry of a schedule.
public struct SpeedScheduleError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A description of the error and of the accepted form.
    public let description: String
}

extension SpeedSchedule.Entry {
    /// The accepted form, for messages that end with "takes …".
    public static let accepted =
        "days, a span and a speed, such as 'mon-fri 08:00-18:00 1M' or 'sat,sun 22:00-06:00 0', which is no limit"

    /// Parses an entry of three words: days, a span and a speed.
    ///
    /// Days are names from `mon` to `sun` or ranges of them, separated by commas. The span is written such as
    /// `08:00-18:00`, and may end at `24:00`. A span whose end is not after its start ends on the next day.
    public init(parsing text: String) throws(SpeedScheduleError) {
        let words = text.split { $0 == " " || $0 == "\t" }
        guard words.count == 3 else {
            throw SpeedScheduleError(description: "is '\(text)'; it takes \(Self.accepted)")
        }
        guard let days = Self.days(words[0].lowercased()) else {
            throw SpeedScheduleError(
                description:
                    "has the days '\(words[0])'; it takes \(Self.dayNames.joined(separator: ", ")), ranges such as mon-fri, and lists"
            )
        }
        let times = words[1].split(separator: "-", omittingEmptySubsequences: false).map(Self.minute)
        guard times.count == 2, let start = times[0], let end = times[1], start < 1440, start != end else {
            throw SpeedScheduleError(
                description: "has the span '\(words[1])'; it takes a start and another end such as 08:00-18:00 or 22:00-06:00")
        }
        guard let speed = ByteCount(parsing: String(words[2])) else {
            throw SpeedScheduleError(description: "has the speed '\(words[2])'; it takes bytes per second, \(ByteCount.accepted)")
        }
        self.init(text: text, bytesPerSecond: speed.bytes, days: days, start: start, end: end)
    }

    private static let dayNames = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    private static func days(_ text: String) -> UInt8? {
        var days: UInt8 = 0
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { name in
                dayNames.firstIndex { $0 == name }
            }
            guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1] else { return nil }
            // A range such as `fri-mon` spans the end of the week.
            for step in 0...((last - first + 7) % 7) { days |= 1 << UInt8((first + step) % 7) }
        }
        return days
    }

    private static func minute(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...2).contains(parts[0].utf8.count), parts[1].utf8.count == 2,
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }), let hour = Int(parts[0]),
            let minute = Int(parts[1]), minute < 60, hour < 24 || hour == 24 && minute == 0
        else { return nil }
        return hour * 60 + minute
    }
}

// MARK: - Storing

extension SpeedSchedule {
    /// The stored form, with one entry per line.
    package var keptText: String { entries.map(\.text).joined(separator: "\n") }

    /// Parses the stored form; `nil` if it is not a schedule.
    package init?(kept text: String) {
        var entries: [Entry] = []
        for line in text.split(separator: "\n") {
            guard let entry = try? Entry(parsing: String(line)) else { return nil }
            entries.append(entry)
        }
        self.init(entries)
    }
}
