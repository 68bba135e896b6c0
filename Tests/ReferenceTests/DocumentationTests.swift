import Foundation
import PawlConfiguration
import Testing

/// The repository's Markdown pages.
@Suite("The documentation")
struct DocumentationTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Files below a folder with a suffix, as paths from the root.
    private static func files(in folder: String, _ suffix: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
            .filter { $0.hasSuffix(suffix) }.map { "\(folder)/\($0)" }
    }

    private static func exists(_ path: some StringProtocol) -> Bool {
        FileManager.default.fileExists(atPath: root.appending(path: String(path)).path)
    }

    private static func pages() throws -> [String] {
        let top = try FileManager.default.contentsOfDirectory(atPath: root.path).filter { $0.hasSuffix(".md") }
        return try top + files(in: "docs", ".md") + files(in: "Benchmarks", ".md")
    }

    // MARK: - Links

    /// The anchors of headings.
    private static func anchors(of page: String) throws -> Set<String> {
        let headings = try text(page).split(separator: "\n").filter { $0.hasPrefix("#") }
        return Set(
            headings.map { heading in
                heading.drop { $0 == "#" || $0 == " " }.lowercased()
                    .filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" }.replacing(" ", with: "-")
            })
    }

    @Test("Every link of a page leads to an existing file or heading")
    func links() throws {
        let pages = try Self.pages()
        #expect(pages.contains("README.md") && pages.contains("docs/architecture.md"))
        for page in pages {
            for match in try Self.text(page).matches(of: /\]\(([^)\s]+)\)/) where !match.1.contains("://") {
                let parts = match.1.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                let folder = Self.root.appending(path: page).deletingLastPathComponent()
                let target =
                    parts[0].isEmpty ? Self.root.appending(path: page) : folder.appending(path: String(parts[0])).standardized
                #expect(FileManager.default.fileExists(atPath: target.path), "\(page): \(match.1)")
                guard parts.count == 2 else { continue }
                let path = String(target.path.dropFirst(Self.root.path.count).drop { $0 == "/" })
                #expect(try Self.anchors(of: path).contains(String(parts[1])), "\(page): \(match.1)")
            }
        }
    }

    @Test("Every repository path on a page exists")
    func paths() throws {
        for page in try Self.pages() {
            for match in try Self.text(page).matches(of: /`((?:Sources|Tests|Deployment|Benchmarks)\/[^`\s]*)/) {
                #expect(Self.exists(match.1), "\(page): \(match.1)")
            }
        }
    }

    // MARK: - Names in the code

    /// All names in the sources, including names of files and modules.
    private static func declaredNames() throws -> Set<String> {
        let keywords: Set<Substring> = ["class", "struct", "enum", "actor", "protocol", "typealias", "func", "let", "var"]
        var names = Set(try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "Sources").path))
        for file in try files(in: "Sources", ".swift") {
            names.insert(String(file.split(separator: "/").last ?? ""))
            for line in try text(file).split(separator: "\n") where !line.contains("//") {
                let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
                if words.first == "case" || words.dropFirst().first == "case" { names.formUnion(words.map(String.init)) }
                for (word, next) in zip(words, words.dropFirst()) where keywords.contains(word) { names.insert(String(next)) }
            }
        }
        return names
    }

    @Test("The files, types and members named on the code pages exist")
    func names() throws {
        let names = try Self.declaredNames()
        func check(_ name: some StringProtocol, _ page: String) {
            if names.contains(String(name))
                || FileManager.default.fileExists(atPath: Self.root.appending(path: String(name)).path)
            {
                return
            }
            // A member, or a call: each component separately.
            let parts = name.prefix { $0 != "(" }.split(separator: ".")
            #expect(!parts.isEmpty && parts.allSatisfy { names.contains(String($0)) }, "\(page): \(name)")
        }
        for name in try Self.text("docs/architecture.md").matches(of: /`([^`]+)`/) { check(name.1, "docs/architecture.md") }
        // In diagrams, words written like types.
        for page in ["README.md", "docs/architecture.md"] {
            for line in try Self.text(page).split(separator: "\n") where line.hasPrefix("    ") {
                for word in line.split(whereSeparator: { !$0.isLetter }) where word.contains(where: \.isLowercase) {
                    if word.filter(\.isUppercase).count > 1 { check(word, page) }
                }
            }
        }
    }

    // MARK: - Version

    @Test("All spellings of the version are the program's")
    func version() throws {
        let document = try Self.text("openapi.yaml")
        let spelled = document.matches(of: /(?m)^ +version: ([0-9.]+)$/).map { String($0.1) }
        #expect(spelled == [Program.version, Program.version])
        #expect(try Self.text("docs/pawl.1").contains("\"pawl \(Program.version)\""))
        let released = try Self.text("CHANGELOG.md").firstMatch(of: /(?m)^## \[([0-9.]+)\] - \d{4}-\d\d-\d\d$/)
        #expect(released.map { String($0.1) } == Program.version)
        let deployment = ["compose.yaml", "container/build", "fleet/compose.yaml", "kubernetes/base/deployment.yaml"]
        for page in ["README.md", "docs/operations.md", "Dockerfile"] + deployment.map({ "Deployment/" + $0 }) {
            let spelled = try Self.text(page).matches(of: /(?:pawl[:_-]|image\.version=")([0-9]+\.[0-9]+\.[0-9]+)/)
            #expect(!spelled.isEmpty && spelled.allSatisfy { $0.1 == Program.version }, "\(page)")
        }
    }
}
