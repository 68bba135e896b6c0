import Foundation
import TestSupport
import Testing

@Suite("docs/threat-model.md")
struct ThreatModelTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized

    /// All tests, as text.
    private static func tests() throws -> String {
        let folder = root.appending(path: "Tests")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var text = ""
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            text += try String(contentsOf: file, encoding: .utf8)
        }
        return text
    }

    @Test("Each defence names existing tests")
    func evidence() throws {
        let model = try String(contentsOf: Self.root.appending(path: "docs/threat-model.md"), encoding: .utf8)
        let tests = try Self.tests()
        let rows = model.split(separator: "\n").filter { $0.hasPrefix("| It ") || $0.hasPrefix("| Whoever ") }
        #expect(rows.count > 20)
        for row in rows {
            let cells = row.split(separator: "|")
            #expect(cells.count == 3, "\(row)")
            let evidence = cells.last ?? ""
            let names = evidence.matches(of: /\*([^*]+)\*/).map(\.1)
            let types = evidence.matches(of: /`([^`]+)`/).map(\.1)
            #expect(!names.isEmpty || !types.isEmpty, "\(row)")
            for name in names {
                // "Suite: test", or the beginning of a name.
                let part = name.split(separator: ": ").last ?? name
                #expect(tests.contains(part.prefix { $0 != "…" }), "\(name)")
            }
            for type in types {
                let path = Self.root.appending(path: String(type.prefix { $0 != " " })).path
                let isThere =
                    type.hasPrefix("Tests/") ? FileManager.default.fileExists(atPath: path) : tests.contains("struct \(type)")
                #expect(isThere, "\(type)")
            }
        }
    }
}
