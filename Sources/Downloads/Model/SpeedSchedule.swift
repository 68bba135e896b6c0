public import HTTPCore

/// Speed limits that hold at certain times of the week, such as `mon-fri 08:00-18:00 1M`: the first entry that covers a moment has its
/// limit then.
///
/// Times are those of the clock on the wall. So where it is set forward or back for summer, an entry covers what that clock shows: an hour
/// that is skipped is covered by nothing, and one that comes twice is covered twice.
public struct SpeedSchedule: Sendable, Equatable {
    /// The most entries: more than anybody thinks of, and little to look through.
    public static let mostEntries = 32
    /// The most characters of an entry.
    public static let longestEntry = 200

    /// One limit and when it holds.
    public struct Entry: Sendable, Equatable {
        /// The entry as it was written.
        public let text: String
        /// Bytes per second; 0 is no limit.
        public let bytesPerSecond: Int64
        /// A bit for each day on which it begins, Monday the lowest.
        fileprivate let days: UInt8
        /// Minutes of the day, 0…1439 and 0…1440. An end that is not after the start is on the next day.
        fileprivate let start: Int
        fileprivate let end: Int
    }

    /// The entries in their order.
    public let entries: [Entry]

    /// A schedule of these entries.
    public init(_ entries: [Entry] = []) {
        self.entries = entries
    }

    /// The limit at a moment, in bytes per second, 0 for none; nil if no entry covers it.
    /// - Parameter offset: seconds by which the local time is ahead of UTC at that moment.
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

// MARK: - Reading

/// Why an entry of a schedule was refused.
public struct SpeedScheduleError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong with it and what is accepted.
    public let description: String
}

extension SpeedSchedule.Entry {
    /// What is accepted, as the end of "takes …".
    public static let accepted =
        "days, a span and a speed, such as 'mon-fri 08:00-18:00 1M' or 'sat,sun 22:00-06:00 0', which is no limit"

    /// Reads an entry of three words: days, each or a range of `mon` to `sun`, separated by commas; a span such as `08:00-18:00`, which ends
    /// on the next day if its end is not after its start, or `24:00`; and a speed.
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
            // `fri-mon` goes over the week's end.
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

// MARK: - Keeping

extension SpeedSchedule {
    /// One entry on a line, as it is kept.
    var keptText: String { entries.map(\.text).joined(separator: "\n") }

    /// Reads what was kept; nil if that is no schedule.
    init?(kept text: String) {
        var entries: [Entry] = []
        for line in text.split(separator: "\n") {
            guard let entry = try? Entry(parsing: String(line)) else { return nil }
            entries.append(entry)
        }
        self.init(entries)
    }
}
