/// A day of the proleptic Gregorian calendar, and its number counted from 1970-01-01.
///
/// The integer arithmetic uses eras of 400 years (146,097 days) that begin on 1 March, so that the leap day is the last
/// day of its year. It is correct for all years that a date in a message can have.
struct CivilDate {
    var year: Int
    /// The month, 1–12.
    var month: Int
    /// The day of the month, 1–31.
    var day: Int

    static let monthNames = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    static let dayNames = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let longDayNames = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

    /// Creates a day; nil if the calendar lacks it. Years are 0–9999.
    init?(year: Int, month: Int, day: Int) {
        guard (0...9999).contains(year), (1...12).contains(month), day >= 1,
            day <= CivilDate.length(ofMonth: month, in: year)
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// Creates the day that is `days` after 1970-01-01.
    init(daysSinceEpoch days: Int) {
        // 0000-03-01 is 719,468 days before 1970-01-01.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var daysSinceEpoch: Int {
        let marchYear = month <= 2 ? year - 1 : year
        let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
        let yearOfEra = marchYear - era * 400
        let marchMonth = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * marchMonth + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The day of the week; 0 is Sunday.
    static func weekday(daysSinceEpoch days: Int) -> Int {
        ((days + 4) % 7 + 7) % 7
    }

    static func length(ofMonth month: Int, in year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    /// The first and last seconds that four digits of a year can express, 0000-01-01T00:00:00Z and
    /// 9999-12-31T23:59:59Z, since the epoch.
    static let earliestSecond: Int64 = -62_167_219_200
    static let latestSecond: Int64 = 253_402_300_799
}
