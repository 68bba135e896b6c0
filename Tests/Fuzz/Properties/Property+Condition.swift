internal import HTTPCore

extension Property {
    /// Lines of `Name: value` are the conditional fields of a request. Fields that the order of RFC 9110 §13.2.2 skips
    /// must have no effect.
    func checkConditions(_ bytes: [UInt8]) throws(Violation) {
        var fields = Fields()
        for line in bytes.split(separator: 0x0A) {
            let colon = line.firstIndex(of: 0x3A) ?? line.endIndex
            if let name = FieldName(String(decoding: line[..<colon], as: UTF8.self)) {
                fields.append(name, bytes: Array(line[colon...].dropFirst()).span)
            }
            let value = String(decoding: line[colon...].dropFirst(), as: UTF8.self)
            if let tag = EntityTag(parsing: value) { try expect(EntityTag(parsing: tag.description) == tag, "printed as \(tag)") }
            if case .tags(let tags) = EntityTagList(parsing: value) {
                let printed = tags.map(\.description).joined(separator: ", ")
                try expect(EntityTagList(parsing: printed) == .tags(tags), "printed as \(printed)")
            }
        }
        // One kind of representation for each input, derived from its bytes: all six would take six times as long.
        let kind = Pieces.hash(bytes) % 6
        let date = kind < 3 ? HTTPDate(secondsSinceEpoch: 784_111_777) : nil
        let etag = kind % 3 == 0 ? nil : EntityTag(opaque: "a", isWeak: kind % 3 == 1)
        for method in [HTTPMethod.get, .head, .put] {
            try Conditions(method: method, etag: etag, lastModified: date).check(fields)
        }
    }
}

/// A representation of 100 bytes, and a request for it.
private struct Conditions {
    let method: HTTPMethod
    let etag: EntityTag?
    let lastModified: HTTPDate?

    func outcome(_ fields: borrowing Fields, without names: FieldName...) -> Preconditions.Outcome {
        var fields = copy fields
        for name in names { fields.remove(name) }
        return Preconditions.evaluate(method: method, fields: fields, etag: etag, lastModified: lastModified, length: 100)
    }

    func check(_ fields: Fields) throws(Violation) {
        let outcome = outcome(fields)
        switch outcome {
        case .notModified: try expect(method != .put, "304 to \(method)")
        case .partial, .unsatisfiable: try expect(method == .get, "a range for \(method)")
        case .failed, .proceed: break
        }
        let conditionsAlone = self.outcome(fields, without: .range, .ifRange)
        switch outcome {
        case .failed, .notModified: try expectSame(conditionsAlone, outcome, "without the range")
        case .proceed, .partial, .unsatisfiable: try expectSame(conditionsAlone, .proceed, "without the range")
        }
        if fields.contains(.ifMatch) {
            try expectSame(self.outcome(fields, without: .ifUnmodifiedSince), outcome, "If-Unmodified-Since beside If-Match")
        }
        if fields.contains(.ifNoneMatch) || method == .put {
            try expectSame(self.outcome(fields, without: .ifModifiedSince), outcome, "If-Modified-Since passed over")
        }
        if !fields.contains(.range) || method != .get {
            try expectSame(self.outcome(fields, without: .ifRange), outcome, "If-Range without a Range")
        }
        if fields.contains(.ifRange), case .partial = outcome {
            try expect(etag?.isWeak == false || lastModified != nil, "If-Range met without a strong validator")
        }
    }
}
