import Testing

@testable import PawlClient

@Suite("Beginnings of ids")
struct IDMatchTests {
    private static let ids = ["01AAAA", "01AABB", "01B", "01BCCC"]

    @Test(
        "A beginning selects a unique match or an exact id",
        arguments: [
            ("01AAA", IDMatch.one("01AAAA")), ("01B", .one("01B")), ("01BC", .one("01BCCC")), ("02", .none("02")),
            ("01AA", .several("01AA", ["01AAAA", "01AABB"])), ("", .several("", ids)),
        ])
    func match(beginning: String, expected: IDMatch) {
        #expect(IDMatch(beginning, among: Self.ids) == expected)
    }

    @Test("An empty beginning selects nothing")
    func empty() {
        #expect(IDMatch("", among: ["01A"]) == .several("", ["01A"]))
    }

    @Test("Refuses an ambiguous beginning with examples")
    func refusal() {
        #expect(throws: RemoteError.local("'01A' is the beginning of 2 IDs, such as 01AAAA and 01AABB: give more characters")) {
            try IDMatch("01A", among: Self.ids).id()
        }
    }

    @Test(
        "Finds the minimum length of distinct ids",
        arguments: [
            ([], 8), (["01AAAAAAAAAA"], 8), (["01AAAAAAAAAA", "01AAAAAAAAAB"], 12), (["0123456789AX", "0123456789BX"], 11),
        ])
    func distinctLength(ids: [String], length: Int) {
        #expect(IDMatch.distinctLength(of: ids) == length)
    }
}
