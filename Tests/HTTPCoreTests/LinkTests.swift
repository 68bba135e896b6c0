import Testing

@testable import HTTPCore

@Suite struct LinkTests {
    private func all(_ values: String...) -> [Link] {
        var fields = Fields()
        for value in values { fields.append(FieldName(constant: "Link"), value) }
        return Link.all(in: fields)
    }

    @Test("Reads the links of RFC 6249 and RFC 8288, in order, from all fields")
    func links() throws {
        let links = all(
            "<http://www2.example.com/example.ext>; rel=duplicate; pri=1; geo=gb, <ftp://ftp.example.com/a>; rel=duplicate",
            "</terms>; rel=\"copyright Duplicate\"; anchor=\"#foo\"")
        #expect(links.map(\.target) == ["http://www2.example.com/example.ext", "ftp://ftp.example.com/a", "/terms"])
        #expect(links.map { $0["pri"] } == ["1", nil, nil])
        #expect(links.map { $0["anchor"] } == [nil, nil, "#foo"])
        #expect(links.allSatisfy { $0.hasRelation("duplicate") })
        #expect(links.map { $0.hasRelation("copyright") } == [false, false, true])
    }

    @Test(
        "Commas and semicolons in targets and quoted strings separate nothing; the first value of a parameter counts",
        arguments: [
            ("<http://a/b,c;d>;rel=duplicate", ["http://a/b,c;d"]),
            ("<a>; title=\"x, <b>; \\\", rel=c\"; rel=duplicate, <d>;rel=duplicate", ["a", "d"]),
            ("<a>;rel=duplicate;rel=other , , <b>; REL=DUPLICATE", ["a", "b"]),
            ("<a>;rel=other;rel=duplicate", []), ("< a >; rel=duplicate", ["a"]),
            // Parts that are no links.
            ("a; rel=duplicate, <b>; rel=duplicate", ["b"]), ("\"<c>, \"; rel=x, <b>; rel=duplicate", ["b"]),
            ("<a; rel=duplicate", []), ("", []), (",,", []), ("<>; rel=duplicate", [""]), ("<a>; rel=duplicates", []),
            ("<a>; rel=\"duplicate", ["a"]), ("<a> rel=duplicate", []),
        ] as [(String, [String])])
    func duplicates(value: String, targets: [String]) {
        #expect(all(value).filter { $0.hasRelation("duplicate") }.map(\.target) == targets)
    }
}
