import Foundation
import Testing

struct SQLiteHeaderTests {
    private static let theirs = "/usr/include/sqlite3.h"

    private static var isInstalled: Bool { FileManager.default.fileExists(atPath: theirs) }

    @Test("The constants of the shim equal SQLite's own header's", .enabled(if: isInstalled))
    func constantsMatchSQLite() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardizedFileURL
        let shim = try String(contentsOf: root.appending(path: "Sources/CSQLite/include/CSQLite.h"), encoding: .utf8)
        let header = try String(contentsOfFile: Self.theirs, encoding: .utf8)
        var defined: [String: Int] = [:]
        for match in header.matches(of: /#\s*define\s+(SQLITE_[A-Z_]+)\s+(0x[0-9A-Fa-f]+|[0-9]+)/) {
            defined[String(match.1)] = Self.number(match.2)
        }
        let declared = shim.matches(of: /PAWL_(SQLITE_[A-Z_]+) = (0x[0-9A-Fa-f]+|[0-9]+)/)
        #expect(declared.count == 27)
        for match in declared {
            #expect(defined[String(match.1)] == Self.number(match.2), "\(match.1)")
        }
    }

    private static func number(_ text: Substring) -> Int? {
        text.hasPrefix("0x") ? Int(text.dropFirst(2), radix: 16) : Int(text)
    }
}
