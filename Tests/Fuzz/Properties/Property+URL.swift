internal import HTTPCore

extension Property {
    /// The bytes as a target, as a URL and as a reference to one.
    func checkURL(_ bytes: [UInt8]) throws(Violation) {
        let text = String(decoding: bytes, as: UTF8.self)
        if let target = try? RequestTarget(text) { try check(target, PercentEncoding.encodeFragment(text)) }
        if let url = HTTPURL(text) { try check(url) }
        if let base = HTTPURL("http://u:p@base.example:81/a/b;c?d"), let url = base.resolving(text) {
            try check(url)
            // RFC 3986 §5.2.2: a reference with its own authority inherits nothing from the base.
            try expect(
                url.userInfo == nil || url.userInfo != base.userInfo || url.host == base.host || text.contains("u:p@"),
                "a password given to \(url.host)")
        }
        try expect(PercentEncoding.decode(PercentEncoding.encodeComponent(text).utf8) == text, "a component doesn't come back")
        try expect(
            PercentEncoding.decode(PercentEncoding.encodeForm(text).utf8, plusIsSpace: true) == text,
            "a form text doesn't come back")
    }

    /// The text of the target, with all characters encoded that a target cannot have.
    private func check(_ target: RequestTarget, _ text: String) throws(Violation) {
        try expect(target.description == text, "printed as \(target)")
        let path = Array(target.rawPath)
        try expect(path.first == 0x2F || path == [0x2A] && target.isAsterisk, "a path of \(path)")
        try expect(!path.contains(0x3F), "a question mark in the path")
        try expect((target.path == nil) == (target.segments == nil), "decoded in one way only")
        if let segments = target.segments, let decoded = target.path, !target.isAsterisk {
            try expectSame("/" + segments.joined(separator: "/"), decoded, "segments and path")
            try expect(!decoded.utf8.contains(0), "NUL in a path")
        }
        if let query = target.rawQuery, target.form == .origin {
            try expectSame(Array(text.utf8), path + [0x3F] + query, "path and query")
        }
        guard let items = try? target.queryItems() else { return }
        let written = PercentEncoding.encodeForm(items)
        let again = try? RequestTarget("/?" + written).queryItems()
        // An item with neither name nor value is written as `=`, and survives a round trip.
        try expect(again == items, "query items written as \(written) are \(String(describing: again))")
    }

    private func check(_ url: HTTPURL) throws(Violation) {
        try expect(HTTPURL(url.string) == url, "\(url.string) normalises to something else")
        try expect(url.string.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x5C }, "\(url.string) has other characters")
        try expect((1...65535).contains(url.port), "port \(url.port)")
        try expect(url.path.utf8.first == 0x2F, "path \(url.path)")
        try expect(!url.host.isEmpty && url.host.utf8.count <= 254, "a host of \(url.host.utf8.count) bytes")
        try expect(url.host.utf8.allSatisfy { !(0x41...0x5A).contains($0) }, "host \(url.host)")
        // A request for a URL has exactly its target and host, which are read as such.
        let target = url.path + (url.query.map { "?\($0)" } ?? "")
        let request = Array("GET \(target) HTTP/1.1\r\nHost: \(url.authority)\r\n\r\n".utf8)
        var isRequested = false
        let reading = MessageReading(request, cuts: []) { head, bytes in
            isRequested = head.target.description == target && bytes == request
        }
        try expect(isRequested || target.utf8.count > 8192 || reading.error?.status == .uriTooLong, "asked as \(reading)")
        let deeper = url.appending(path: "x y", query: [QueryItem(name: "a&b", value: "c d")])
        try expect(deeper.origin == url.origin && HTTPURL(deeper.string) == deeper, "appended to, it is \(deeper.string)")
        _ = url.lastPathComponent
    }
}
