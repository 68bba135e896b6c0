import CommandLine
import Foundation
import HTTPCore
import Testing

@testable import PawlService
@testable import reference

@Suite("The page of /docs")
struct ReferencePageTests {
    private let document: String
    private let kept: String
    private let root: URL

    init() throws {
        root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
        document = try String(contentsOf: root.appending(path: "openapi.yaml"), encoding: .utf8)
        kept = try String(
            contentsOf: root.appending(path: "Sources/PawlService/Resources/reference.html"), encoding: .utf8)
    }

    @Test("The served page is the rendering of openapi.yaml")
    func pageIsCurrent() {
        #expect(
            kept == ReferencePage(document).html,
            "run: swift run reference openapi.yaml > Sources/PawlService/Resources/reference.html")
    }

    @Test("The table of docs/options.md is made from the options of services")
    func optionsAreCurrent() throws {
        let page = try String(contentsOf: root.appending(path: "docs/options.md"), encoding: .utf8)
        #expect(OptionsPage.updated(page) == page, "run: swift run reference docs/options.md")
        #expect(OptionsPage.updated(document) == nil)
        for option in OptionTable.options(ofAny: CommandName.services) {
            #expect(page.split(separator: "\n").count { $0.hasPrefix("| `\(option.flag)` |") } == 1, "\(option.flag)")
        }
    }

    @Test("The page describes each operation: group, summary, parameters, body and responses")
    func operations() throws {
        let operations = ReferencePage(document).operations
        #expect(operations.count == Endpoint.all.map(\.operations.count).reduce(0, +))
        for operation in operations {
            #expect(kept.contains("<h3><code><b>\(operation.method)</b> \(operation.path)</code></h3>"), "\(operation)")
            #expect(operation.summary.hasSuffix("."), "\(operation)")
            #expect(["search", "downloads", "subscriptions", "events", "service"].contains(operation.group), "\(operation)")
            for place in operation.path.matches(of: /\{([a-z]+)\}/) {
                #expect(operation.parameters.contains { $0.name == place.1 && $0.kind.hasPrefix("path") }, "\(operation)")
            }
            #expect(operation.responses.contains { $0.status.hasPrefix("2") }, "\(operation)")
            #expect(operation.responses.last?.status == "default", "\(operation)")
            #expect(operation.responses.allSatisfy { !$0.description.isEmpty }, "\(operation)")
        }
        let search = try #require(operations.first { $0.path == "/search" })
        #expect(search.description.contains("five minutes"))
        #expect(
            search.parameters.contains { $0.name == "limit" && $0.kind == "query: integer, 1 to 200, by default <code>50</code>" }
        )
        let add = try #require(operations.first { $0.path == "/downloads" && $0.method == "POST" })
        #expect(add.body?.kind == "<a href=\"#DownloadRequest\">DownloadRequest</a>")
        #expect(add.responses.first { $0.status == "201" }?.body?.kind == "<a href=\"#Download\">Download</a>")
    }

    @Test("The page is self-contained: its links have targets, and it loads nothing else")
    func pageLinks() {
        let text = ReferencePage(document).html
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
        "An outline has the document's contents in every notation",
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
}
