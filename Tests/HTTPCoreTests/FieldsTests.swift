import Testing

@testable import HTTPCore

@Suite struct FieldsTests {
    let name = FieldName(constant: "X-Name")

    func encoded(_ fields: Fields) -> String {
        var bytes: [UInt8] = []
        fields.encode(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("Fields keep their order and spelling")
    func fieldsKeepTheirOrderAndSpelling() {
        var fields = Fields()
        fields.append(.contentType, "text/plain")
        fields.append(FieldName(constant: "x-NAME"), "1")
        fields.append(.etag, "\"a\"")
        fields.append(name, "2")
        #expect(encoded(fields) == "Content-Type: text/plain\r\nx-NAME: 1\r\nETag: \"a\"\r\nX-Name: 2\r\n")
        #expect(fields.count == 4)
        #expect(fields[name] == "1")
        #expect(fields.values(name) == ["1", "2"])
        #expect(fields.combined(name) == "1, 2")
        #expect(fields.contains(name))
        #expect(!fields.contains(.host))
        #expect(fields[.host] == nil)
        #expect(fields.values(.host).isEmpty)
        #expect(fields.combined(.host) == nil)
        var seen: [String] = []
        for field in fields { seen.append("\(field.name)=\(field.value)") }
        #expect(seen == ["Content-Type=text/plain", "x-NAME=1", "ETag=\"a\"", "X-Name=2"])
    }

    static let values: [(String, String)] = [
        ("a", "a"), ("", ""), ("  a  ", "a"), ("\t a\tb \t", "a\tb"), ("a\r\nSet-Cookie: b", "a  Set-Cookie: b"), ("\r\n", ""),
        ("a\u{0}b", "a b"), ("a\u{1b}b\u{7f}", "a b"), ("\na", "a"), ("a\r", "a"), ("é", "é"), ("\u{85}", "\u{85}"),
        ("日本", "日本"), ("a\u{0B}b\u{0C}c", "a b c"),
    ]

    @Test("Makes values legal", arguments: values)
    func aValueIsMadeLegal(value: String, legal: String) {
        var fields = Fields()
        fields.append(name, value)
        #expect(fields[name] == legal)
        #expect(encoded(fields) == "X-Name: \(legal)\r\n")
        fields.set(name, value)
        #expect(fields[name] == legal)
        var fromBytes = Fields()
        fromBytes.append(name, bytes: Array(value.utf8).span)
        #expect(fromBytes == fields)
    }

    @Test("Setting a field replaces all of its name at the position of the first")
    func settingReplacesAllInThePlaceOfTheFirst() {
        var fields = Fields()
        fields.append(.host, "a")
        fields.append(name, "1")
        fields.append(.etag, "e")
        fields.append(name, "2")
        fields.set(FieldName(constant: "x-name"), "3")
        #expect(encoded(fields) == "Host: a\r\nx-name: 3\r\nETag: e\r\n")
        fields.set(.vary, "Origin")
        #expect(encoded(fields) == "Host: a\r\nx-name: 3\r\nETag: e\r\nVary: Origin\r\n")
        #expect(fields[.etag] == "e")
    }

    @Test("Removing a field removes all of its name")
    func removingTakesAllOfAName() {
        var fields = Fields()
        fields.append(name, "1")
        fields.append(.host, "a")
        fields.append(name, "2")
        fields.remove(name)
        #expect(encoded(fields) == "Host: a\r\n")
        fields.remove(name)
        fields.remove(.host)
        #expect(fields.isEmpty)
        #expect(encoded(fields).isEmpty)
    }

    @Test("Writes dates without a String")
    func datesAreWrittenWithoutText() {
        var fields = Fields()
        fields.append(.date, HTTPDate(secondsSinceEpoch: 784_111_777))
        #expect(encoded(fields) == "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n")
    }

    @Test("An emptied section keeps its storage")
    func anEmptiedSectionKeepsItsStorage() {
        var fields = Fields()
        fields.reserveCapacity(fields: 8, bytes: 512)
        let capacity = fields.lines.capacity
        for round in 0..<3 {
            fields.removeAll(keepingCapacity: true)
            fields.append(name, "\(round)")
            #expect(fields.count == 1)
            #expect(fields[name] == "\(round)")
        }
        #expect(fields.lines.capacity == capacity)
    }

    @Test("Finds list members ignoring case")
    func listMembersAreFoundWithoutCase() {
        var fields = Fields()
        fields.append(.connection, "Keep-Alive,, \tTE ")
        fields.append(.connection, "\"a, close\", x")
        #expect(fields.contains(.connection, token: "keep-alive"))
        #expect(fields.contains(.connection, token: "te"))
        #expect(fields.contains(.connection, token: "x"))
        #expect(!fields.contains(.connection, token: "close"))
        #expect(!fields.contains(.connection, token: "keep"))
    }

    @Test(
        "Splits lists at commas outside quotes",
        arguments: [
            ("a", ["a"]), ("", []), (",", []), (" , ,", []), ("a,b", ["a", "b"]), (" a , b ", ["a", "b"]),
            ("\"a,b\",c", ["\"a,b\"", "c"]), ("\"a\\\",b\",c", ["\"a\\\",b\"", "c"]), ("\"a,b", ["\"a,b"]), ("\"\\", ["\"\\"]),
            ("a\\,b", ["a\\", "b"]),
        ])
    func listsAreSplitAtCommasOutsideOfQuotes(value: String, members: [String]) {
        #expect(ListMembers(Array(value.utf8)[...]).map { String(fieldText: $0) } == members)
    }

    @Test("Names are tokens, compared ignoring case")
    func namesAreTokensThatCompareWithoutCase() {
        #expect(FieldName("content-TYPE") == .contentType)
        #expect(Set([FieldName.etag, FieldName("etag"), FieldName("ETAG")]).count == 1)
        #expect(FieldName("ETag")?.canonical == "ETag")
        #expect(FieldName("ETag")?.lowercased == "etag")
        for bad in ["", " ", "a b", "a:", "a\r\n", "é", "a\u{0}", "(a)", "a,b"] {
            #expect(FieldName(bad) == nil, "\(bad)")
        }
        #expect(FieldName(constant: "bad name:").canonical == "bad-name-")
    }

    @Test("Compares sections ignoring the case of names")
    func sectionsAreEqualWithNamesInAnyCase() {
        var left = Fields()
        left.append(.host, "a")
        var right = Fields()
        right.append(FieldName(constant: "HOST"), "a")
        #expect(left == right)
        right.append(.host, "a")
        #expect(left != right)
        left.append(.host, "A")
        #expect(left != right)
    }
}
