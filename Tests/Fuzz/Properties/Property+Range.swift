internal import HTTPCore

extension Property {
    /// Ranges are within the representation, separate, and equal to a byte-by-byte reading of the field.
    func checkRanges(_ bytes: [UInt8]) throws(Violation) {
        let text = String(decoding: bytes, as: UTF8.self)
        for length in [0, 1, 10, 300, Int64.max] {
            let outcome = RangeSet.resolve(text, length: length)
            if case .satisfiable(let parts) = outcome {
                try expect(!parts.isEmpty && parts.count <= 16, "\(parts.count) parts")
                try expect(parts.allSatisfy { $0.start >= 0 && $0.length >= 1 && $0.end <= length }, "\(parts) of \(length)")
                let sorted = parts.sorted { $0.start < $1.start }
                try expect(zip(sorted, sorted.dropFirst()).allSatisfy { $0.end < $1.start }, "\(parts) touch")
            }
            guard length <= 300 else { continue }
            try expectSame(Coverage(outcome), Coverage(text, length: Int(length)), "of \(length) bytes, resolved and counted")
        }
        if let range = ContentRange(parsing: text) {
            try expect(ContentRange(parsing: range.description) == range, "printed as \(range)")
            if let end = range.end { try expect(end < range.total ?? .max, "\(range)") }
        }
    }
}

/// The bytes of a representation that a Range field requests.
private enum Coverage: Equatable {
    case ignored
    case bytes(Set<Int>)

    init(_ outcome: RangeSet.Outcome) {
        switch outcome {
        case .ignore: self = .ignored
        case .unsatisfiable: self = .bytes([])
        case .satisfiable(let parts): self = .bytes(Set(parts.flatMap { Int($0.start)..<Int($0.end) }))
        }
    }

    /// A second reading of the field: RFC 9110 §14.1.2 taken literally.
    init(_ text: String, length: Int) {
        let value = Array(text.utf8)
        guard String(decoding: value.prefix(6), as: UTF8.self).lowercased() == "bytes=" else {
            self = .ignored
            return
        }
        let members = value.dropFirst(6).split(separator: 0x2C).map { member in
            String(decoding: member, as: UTF8.self).trimmingPrefix { $0 == " " || $0 == "\t" }
        }.filter { !$0.isEmpty }
        var bytes: Set<Int> = []
        var wantsEndOfNothing = false
        for member in members {
            let range = member.reversed().trimmingPrefix { $0 == " " || $0 == "\t" }.reversed()
            let numbers = range.split(separator: "-", omittingEmptySubsequences: false).map { digits in
                digits.allSatisfy { $0.isASCII && $0.isNumber } ? (digits.isEmpty ? nil : Int(String(digits)) ?? .max) : -1
            }
            guard numbers.count == 2, !numbers.contains(-1), members.count <= 16 else {
                self = .ignored
                return
            }
            switch (numbers[0], numbers[1]) {
            case (nil, let suffix?):
                if length == 0, suffix > 0 { wantsEndOfNothing = true }
                bytes.formUnion(max(0, length - suffix)..<length)
            case (let start?, nil): bytes.formUnion(min(start, length)..<length)
            case (let start?, let end?) where start <= end: bytes.formUnion(min(start, length)..<min(end, length - 1) + 1)
            default:
                self = .ignored
                return
            }
        }
        self = members.isEmpty || bytes.isEmpty && wantsEndOfNothing ? .ignored : .bytes(bytes)
    }
}
