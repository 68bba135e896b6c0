import DownloadCore
import Foundation
import HTTPCore
import Testing

@testable import PawlService

@Suite("openapi.yaml")
struct DocumentTests {
    private let lines: [Substring]

    init() throws {
        lines = String(decoding: EmbeddedFile.bytes(of: "openapi.yaml"), as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
    }

    /// The paths and their methods, by their indentation.
    private func documented() -> [String: Set<String>] {
        var paths: [String: Set<String>] = [:]
        var path = ""
        let begin = lines.firstIndex(of: "paths:") ?? 0
        for line in lines[begin...].dropFirst().prefix(while: { $0.isEmpty || $0.hasPrefix(" ") }) {
            if line.hasPrefix("  /") {
                path = String(line.dropFirst(2).dropLast())
                paths[path] = []
            } else if line.hasPrefix("    "), !line.hasPrefix("     "), line.hasSuffix(":") {
                let name = line.dropFirst(4).dropLast()
                if ["get", "put", "post", "patch", "delete"].contains(name) { paths[path]?.insert(name.uppercased()) }
            }
        }
        return paths
    }

    /// The items of a list under `name:` in the schemas.
    private func list(_ name: String) -> Set<String> {
        let begin = lines.firstIndex(of: "    \(name):") ?? 0
        let items = lines[begin...].drop { !$0.hasPrefix("        - ") }.prefix { $0.hasPrefix("        - ") }
        return Set(items.map { String($0.dropFirst(10)) })
    }

    @Test("Each route is documented, and each documented path is a route")
    func routes() {
        let documented = documented()
        let routed = Dictionary(
            uniqueKeysWithValues: Endpoint.all.map { ($0.path, Set($0.methods.map(\.name))) })
        #expect(documented == routed)
    }

    @Test("Lists exactly the codes of problems")
    func problems() {
        #expect(list("ProblemCode") == Set(ProblemCode.allCases.map(\.rawValue)))
    }

    @Test("Each problem response has an example with the title and status of its code")
    func problemExamples() throws {
        let text = lines.joined(separator: "\n")
        var codes: Set<ProblemCode> = []
        for match in text.matches(of: /type: \/problems\/([a-z-]+)(?:,|\n) *title: ([^,\n]+)(?:,|\n) *status: ([0-9]+)/) {
            let code = try #require(ProblemCode(rawValue: String(match.1)), "\(match.0)")
            codes.insert(code)
            #expect(code.title == match.2)
            #expect(String(code.status.code) == match.3)
        }
        #expect(codes.count > 15)
        // A schema without an example fits on one line.
        #expect(!text.contains("application/problem+json: { schema"))
        #expect(text.split(separator: "application/problem+json:").dropFirst().allSatisfy { $0.prefix(200).contains("example:") })
    }

    @Test("Lists exactly the codes of failed downloads")
    func failures() {
        #expect(list("FailureCode") == Set(FailureCode.allCases.map(\.rawValue)))
    }

    @Test("Lists the seven states")
    func states() {
        let names = DownloadState.allCases.map(\.rawValue).joined(separator: ", ")
        #expect(lines.contains { $0.contains("enum: [\(names)]") })
    }

    @Test("Each reference has a target")
    func references() {
        let defined = Set(
            lines.filter { $0.hasPrefix("    ") && !$0.hasPrefix("     ") && $0.contains(":") }
                .map { String($0.dropFirst(4).prefix { $0 != ":" }) })
        for line in lines {
            guard let range = line.range(of: "#/components/") else { continue }
            let name = line[range.upperBound...].split(separator: "/")[1].prefix { $0.isLetter }
            #expect(defined.contains(String(name)), "\(line)")
        }
    }
}
