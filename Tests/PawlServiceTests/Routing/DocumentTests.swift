import Downloads
import Foundation
import HTTPCore
import PawlConfiguration
import Testing

@testable import PawlService

@Suite("openapi.yaml")
struct DocumentTests {
    private let lines: [Substring]

    init() throws {
        lines = String(decoding: PackageResources.openapi_yaml, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
    }

    /// The paths and their methods, by the indentation they stand at.
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

    @Test("each route is documented, and each documented path is a route")
    func routes() {
        let documented = documented()
        let routed = Dictionary(
            uniqueKeysWithValues: Endpoint.allCases.map { ($0.path, Set($0.methods.map(\.name))) })
        #expect(documented == routed)
    }

    @Test("each problem's code is listed, and no other")
    func problems() {
        #expect(list("ProblemCode") == Set(ProblemCode.allCases.map(\.rawValue)))
    }

    @Test("each response that is a problem has an example, of the title and status that its code has")
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
        // A schema without an example would stand on one line.
        #expect(!text.contains("application/problem+json: { schema"))
        #expect(text.split(separator: "application/problem+json:").dropFirst().allSatisfy { $0.prefix(200).contains("example:") })
    }

    @Test("each code of a failed download is listed, and no other")
    func failures() {
        #expect(list("FailureCode") == Set(FailureCode.allCases.map(\.rawValue)))
    }

    @Test("the states are the seven there are")
    func states() {
        let names = DownloadState.allCases.map(\.rawValue).joined(separator: ", ")
        #expect(lines.contains { $0.contains("enum: [\(names)]") })
    }

    @Test("what is referred to exists")
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

    @Test("the page to read tells of each operation: its group, summary, parameters, body and answers")
    func page() throws {
        let operations = ReferencePage(lines.joined(separator: "\n")).operations
        #expect(operations.count == Endpoint.allCases.map(\.methods.count).reduce(0, +))
        for operation in operations {
            #expect(operation.summary.hasSuffix("."), "\(operation)")
            #expect(["search", "downloads", "events", "service"].contains(operation.group), "\(operation)")
            for place in operation.path.matches(of: /\{([a-z]+)\}/) {
                #expect(operation.parameters.contains { $0.name == place.1 && $0.kind.hasPrefix("path") }, "\(operation)")
            }
            #expect(operation.answers.contains { $0.status.hasPrefix("2") }, "\(operation)")
            #expect(operation.answers.last?.status == "default", "\(operation)")
            #expect(operation.answers.allSatisfy { !$0.description.isEmpty }, "\(operation)")
        }
        let search = try #require(operations.first { $0.path == "/search" })
        #expect(search.description.contains("five minutes"))
        #expect(
            search.parameters.contains { $0.name == "limit" && $0.kind == "query: integer, 1 to 200, by default <code>50</code>" }
        )
        let order = try #require(operations.first { $0.path == "/downloads" && $0.method == "POST" })
        #expect(order.body?.kind == "<a href=\"#DownloadOrder\">DownloadOrder</a>")
        #expect(order.answers.first { $0.status == "201" }?.body?.kind == "<a href=\"#Download\">Download</a>")
    }

    @Test("the page is whole: what it links to is in it, and nothing comes from elsewhere")
    func pageLinks() {
        let text = String(decoding: ReferencePage.bytes, as: UTF8.self)
        for link in text.matches(of: /href="#([A-Za-z]+)"/) {
            #expect(text.contains("id=\"\(link.1)\""), "\(link.1)")
        }
        for name in ["/downloads/{id}/file", "receivedRanges", "onDuplicate", "nextCursor"] {
            #expect(text.contains(name), "\(name)")
        }
        #expect(!text.contains("<script") && !text.contains("http://") && !text.contains("https://"))
        #expect(!text.contains("$ref"))
    }

    @Test(
        "an outline has what the document says, however it is written",
        arguments: [
            ("a: b", "b"), ("a: \"b\"", "b"), ("a: 'b: c'", "b: c"), ("a: { b: c }", "{b:c}"),
            ("a: { b: \"c, d\", e: [f, g] }", "{b:c, d;e:[f, g]}"), ("a: { b: it's, c: one's }", "{b:it's;c:one's}"),
            ("a:\n  b: c\n  d: e", "{b:c;d:e}"), ("a:\n  - b\n  - c", "{-:b;-:c}"), ("a:\n  - b: c\n    d: e", "{-:{b:c;d:e}}"),
            ("a:\n  - { b: c }", "{-:{b:c}}"), ("a: |\n  b: c\n\n  d", "b: c d"), ("a:\n  [b,\n   c]", "[b, c]"),
            ("x: &n\n  b: c\na: *n", "{b:c}"),
        ])
    func outline(text: String, expected: String) {
        func written(_ node: DocumentOutline) -> String {
            guard !node.children.isEmpty else { return node.value }
            return "{" + node.children.map { "\($0.key):\(written($0))" }.joined(separator: ";") + "}"
        }
        #expect(DocumentOutline(parsing: text)["a"].map(written) == expected)
    }

    @Test("the version is the program's")
    func version() {
        #expect(lines.contains("  version: \(Program.version)"))
    }
}
