import Foundation
import HTTPCore
import Testing

@testable import HTTPClient

@Suite("Addresses of clouds")
struct CloudAddressTests {
    @Test("docs/threat-model.md names each refused address, and no other")
    func document() throws {
        var root = URL(filePath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        let text = try String(contentsOf: root.appending(path: "docs/threat-model.md"), encoding: .utf8)
        let section = try #require(
            text.components(separatedBy: "\n## Addresses of clouds\n").last?.components(separatedBy: "\n## ").first)
        let cells = section.split(separator: "\n").filter { $0.hasPrefix("| ") }.compactMap { $0.split(separator: "|").first }
        let named = cells.flatMap { $0.split(separator: ",") }.compactMap { word in
            AddressBlock(parsing: word.filter { $0 != " " })
        }
        #expect(Set(named) == Set(IPAddress.cloudHosts.map(\.block)))
        #expect(named.count == IPAddress.cloudHosts.count)
        for block in named { #expect(block.base.specialUse != nil) }
    }
}
