import System
import TestSupport
import Testing

@testable import PawlClient

@Suite("Ends of ids")
struct IDMatchTests {
    private static let ids = ["AAAA01", "BBAA01", "B01", "CCCB01"]

    @Test(
        "An end selects a unique match or an exact id",
        arguments: [
            ("AAA01", IDMatch.one("AAAA01")), ("B01", .one("B01")), ("bb01", .none("bb01")), ("cb01", .one("CCCB01")),
            ("CB01", .one("CCCB01")), ("02", .none("02")),
            ("AA01", .several("AA01", ["AAAA01", "BBAA01"])), ("", .several("", ids)),
        ])
    func match(end: String, expected: IDMatch) {
        #expect(IDMatch(end, among: Self.ids) == expected)
    }

    @Test("An empty end selects nothing")
    func empty() {
        #expect(IDMatch("", among: ["01A"]) == .several("", ["01A"]))
    }

    @Test("Refuses an ambiguous end with examples")
    func refusal() {
        #expect(throws: RemoteError.local("'A01' is the end of 2 IDs, such as AAAA01 and BBAA01: give more characters")) {
            try IDMatch("A01", among: Self.ids).id()
        }
    }

    @Test(
        "Finds the minimum length of distinct ends",
        arguments: [
            ([], 6), (["01AAAAAAAAAA"], 6), (["AAAAAAAAAA01", "BAAAAAAAAA01"], 12), (["AX0123456789", "BX0123456789"], 12),
            (["01AAAAAAAAAA", "01AAAAAAAAAB"], 6), (["AXX0123456", "BXX0123456", "CYX0123456"], 10), (["01A", "01A"], 6),
        ])
    func distinctLength(ids: [String], length: Int) {
        #expect(IDMatch.distinctLength(of: ids) == length)
    }

    @Test("Numbers are rows of the last list of the same service")
    func numbers() throws {
        let list = ListMemory(server: "here", ids: ["A", "B", "C"])
        for (operand, ids) in [("2", ["B"]), ("01", ["A"]), ("1-3", ["A", "B", "C"]), ("2-2", ["B"])] {
            #expect(try list.ids(operand, of: "here") == ids)
        }
        for operand in ["123456", "1A", "", "-1", "1-", "-", "1-2-3", "1-A", "١"] {
            #expect(try list.ids(operand, of: "here") == nil, "\(operand)")
        }
        for (operand, number) in [("0", 0), ("4", 4), ("99999", 99999), ("2-4", 4), ("0-1", 0)] {
            #expect(throws: RemoteError.usage("the last list has 3 downloads: there is no \(number)")) {
                try list.ids(operand, of: "here")
            }
        }
        #expect(throws: RemoteError.usage("'3-1' goes backwards: write 1-3")) { try list.ids("3-1", of: "here") }
        #expect(throws: RemoteError.usage("the last list has 0 downloads: there is no 1")) {
            try ListMemory(server: "here", ids: []).ids("1", of: "here")
        }
        for last in [list, ListMemory()] {
            #expect(throws: RemoteError.usage("there is no list to take number 1 from: run pawl list first")) {
                try last.ids("1", of: "there")
            }
        }
    }

    @Test("Keeps the last list in a file, and reads damaged ones as empty")
    func memory() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/state/list.json"
        #expect(ListMemory.read(path) == ListMemory())
        let list = ListMemory(server: "here", ids: ["A", "B"])
        list.keep(path)
        #expect(ListMemory.read(path) == list)
        try SmallFile.write(Array("{".utf8), to: path)
        #expect(ListMemory.read(path) == ListMemory())
        #expect(ListMemory.read(nil) == ListMemory())
    }
}
