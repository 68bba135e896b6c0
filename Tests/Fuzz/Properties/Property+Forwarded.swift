internal import HTTPCore

extension Property {
    /// A parsed field can be written and survives a round trip; an appended element is read after any text or the text
    /// is malformed; a prefix keeps the directory of links.
    func checkForwarded(_ bytes: [UInt8]) throws(Violation) {
        let text = String(decoding: bytes, as: UTF8.self)
        if let elements = ForwardedElement.list(parsing: text) {
            try expect(elements.count <= bytes.count(where: { $0 == UInt8(ascii: ",") }) + 1, "\(elements.count) elements")
            let written = elements.map { Self.written($0) }.joined(separator: ", ")
            try expectSame(
                ForwardedElement.list(parsing: written), elements.filter { $0 != ForwardedElement() }, "written as \(written)")
            let appended = try ForwardedElement.list(parsing: text + ",for=192.0.2.1").orViolation(
                "an element cannot be appended")
            try expectSame(Array(appended.dropLast()), elements, "with one appended")
        } else {
            try expect(
                ForwardedElement.list(parsing: text + ",for=192.0.2.1") == nil || text.contains("\""), "made whole by its end")
        }
        if case .address(let address, let port)? = ForwardedNode(parsingMember: text) {
            try expect(address.unmapped == address, "\(address) is mapped")
            try expect((0...65535).contains(port ?? 0), "port \(port ?? 0)")
        }
        guard let prefix = PathPrefix(parsing: text) else { return }
        try expect(prefix.isEmpty || prefix.text.hasPrefix("/"), "\(prefix)")
        try expect(!(prefix.text + "/").contains("//") && !(prefix.text + "/").contains("/../"), "\(prefix)")
        try expect(PathPrefix(parsing: prefix.text + "/") == prefix, "\(prefix) does not come back")
    }

    /// An element with all its values in quotes.
    private static func written(_ element: ForwardedElement) -> String {
        var pairs: [String] = []
        switch element.node {
        case .address(let address, let port):
            let host = if case .v6 = address { "[\(address)]" } else { "\(address)" }
            pairs.append("for=\"\(host)\(port.map { ":\($0)" } ?? "")\"")
        case .hidden: pairs.append("for=unknown")
        case nil: break
        }
        if let host = element.host { pairs.append("host=\"\(host)\"") }
        if let scheme = element.scheme { pairs.append("proto=\(scheme)") }
        return pairs.joined(separator: ";")
    }
}

extension Optional {
    fileprivate func orViolation(_ text: String) throws(Violation) -> Wrapped {
        guard let self else { throw Violation(text) }
        return self
    }
}
