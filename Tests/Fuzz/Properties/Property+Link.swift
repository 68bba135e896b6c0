internal import HTTPCore

extension Property {
    /// Each link can be written again, and is then read as before.
    func checkLinks(_ bytes: [UInt8]) throws(Violation) {
        let names = ["rel", "pri", "anchor"]
        for link in links(bytes) {
            try expect(!link.target.utf8.contains(UInt8(ascii: ">")), "the target \(link.target)")
            var value = Array("<\(link.target)>".utf8)
            for name in names {
                guard let text = link[name] else { continue }
                value += Array("; \(name)=\"".utf8)
                for byte in text.utf8 {
                    if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { value.append(UInt8(ascii: "\\")) }
                    value.append(byte)
                }
                value.append(UInt8(ascii: "\""))
            }
            let back = links(value)
            try expect(back.count == 1 && back.first?.target == link.target, "the target \(link.target) doesn't come back")
            for name in names { try expect(back.first?[name] == link[name], "\(name) doesn't come back") }
        }
    }

    private func links(_ value: [UInt8]) -> [Link] {
        var fields = Fields()
        fields.append(FieldName(constant: "Link"), bytes: value.span)
        return Link.all(in: fields)
    }
}
