internal import HTTPCore

extension Property {
    /// A parsed date is written as it was, or at least parsed as the same time again.
    func checkDate(_ bytes: [UInt8]) throws(Violation) {
        let text = String(decoding: bytes, as: UTF8.self)
        let now = HTTPDate(secondsSinceEpoch: 1_795_000_000)
        for date in [HTTPDate(parsing: bytes[...]), HTTPDate(parsing: text, now: now)] {
            guard let date else { continue }
            let printed = date.description
            try expect(printed.utf8.count == 29, "printed as \(printed)")
            try expect(HTTPDate(parsing: printed) == date, "\(printed) is read as another moment")
            // IMF-fixdate, except the name of the day, which is not compared, and a leap second, which is the next
            // second.
            if bytes.count == 29, !text.contains(":60 ") {
                try expectSame(String(printed.dropFirst(4)), String(text.dropFirst(4)), "printed and written")
            }
        }
        // RFC 9110 §5.6.7: never more than 50 years ahead.
        if bytes.count > 29, let date = HTTPDate(parsing: text, now: now) {
            try expect(date.secondsSinceEpoch - now.secondsSinceEpoch <= 51 * 366 * 86_400, "\(date) is far ahead")
        }
        guard let moment = Timestamp(parsing: text) else { return }
        let printed = moment.description
        try expect(printed.utf8.count == 24 && Timestamp(parsing: printed) == moment, "printed as \(printed)")
    }
}
