internal import HTTPCore

extension Property {
    /// A parsed name can be written in ASCII without splitting the message, and survives a round trip.
    func checkDisposition(_ bytes: [UInt8]) throws(Violation) {
        let text = String(decoding: bytes, as: UTF8.self)
        if let disposition = ContentDisposition(parsing: text) {
            try expect(disposition.filename != "", "an empty name")
            if let name = disposition.filename { try checkName(name) }
        }
        try checkName(text)
        guard let type = MediaType(parsing: text) else { return }
        try expect(MediaType(parsing: type.description)?.essence == type.essence, "printed as \(type)")
        try expect(type.matches(pattern: type.essence) || type.type == "*", "\(type) isn't what it is")
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return }
        try expect(MediaType(parsing: type.description) == type, "printed as \(type)")
    }

    private func checkName(_ name: String) throws(Violation) {
        for value in [ContentDisposition.attachment(filename: name), ContentDisposition.inline(filename: name)] {
            try expect(value.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }, "written as \(value)")
            let back = ContentDisposition(parsing: value)?.filename.map { Array($0.utf8) }
            try expect(back == (name.isEmpty ? nil : Array(name.utf8)), "\(value) doesn't come back")
        }
    }
}
