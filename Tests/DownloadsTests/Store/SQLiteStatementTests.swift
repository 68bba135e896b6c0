import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadStore

struct SQLiteStatementTests {
    @Test("Binds nothing of a row before to the next row, also after a failure")
    func earlierValuesAreForgotten() throws {
        let connection = try SQLiteConnection(path: ":memory:")
        try connection.execute("CREATE TABLE rows (number, text, bytes)")
        let insert = try connection.prepare("INSERT INTO rows VALUES (?, ?, ?)")
        func bind(_ number: Int64?, _ text: String?, _ bytes: [UInt8]?) throws {
            try insert.bind(1, number)
            try insert.bind(2, text)
            try insert.bind(3, bytes)
        }
        try bind(1, "a", [1])
        try insert.run()
        try bind(nil, nil, nil)
        try insert.run()
        try bind(2, "b", [2])
        #expect(throws: SQLiteError.self) { try insert.bind(4, "there are three parameters") }
        try bind(nil, nil, nil)
        try insert.run()
        let empty = "SELECT count(*) FROM rows WHERE number IS NULL AND text IS NULL AND bytes IS NULL"
        #expect(try connection.number(empty) == 2)
        #expect(try connection.number("SELECT count(*) FROM rows") == 3)
    }

    @Test(
        "The error of a file system without locks names the remedy, and no other program",
        arguments: [
            (3850, true), (2314, true), (2058, true), (5386, true), (4618, true), (5, false), (6, false), (10, false),
            (266, false),
            (522, false), (8, false), (13, false),
        ] as [(Int32, Bool)])
    func lockless(code: Int32, meansNoLocks: Bool) {
        let text = SQLiteError(code: code, message: "why").storeError.description
        #expect(text.components(separatedBy: "cannot lock").count == (meansNoLocks ? 2 : 1))
        #expect(text.components(separatedBy: "another program").count == ([5, 6].contains(code) ? 2 : 1))
    }
}
