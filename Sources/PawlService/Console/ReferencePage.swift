/// The API for people, made from `openapi.yaml`, so that the two cannot disagree. One document without scripts or anything from
/// elsewhere.
enum ReferencePage {
    /// One method of one path.
    struct Operation: Sendable, Equatable {
        let method: String
        let path: String
        var group = ""
        var summary = ""
        var description = ""
    }

    /// Nothing may load or run; the only style is the one in the document.
    static let contentSecurityPolicy =
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    /// The page.
    static let bytes = Array(page(operations(in: String(decoding: PackageResources.openapi_yaml, as: UTF8.self))).utf8)

    /// Reads the operations by the indentation that the document is written with: no other YAML is ever read here.
    static func operations(in document: String) -> [Operation] {
        var operations: [Operation] = []
        var path = ""
        var isInPaths = false
        var isInDescription = false
        for line in document.split(separator: "\n", omittingEmptySubsequences: false) {
            let indentation = line.prefix { $0 == " " }.count
            let text = line.dropFirst(indentation)
            if indentation == 0, !text.isEmpty { isInPaths = text == "paths:" }
            guard isInPaths, !text.isEmpty else { continue }
            if isInDescription, indentation >= 8, let last = operations.indices.last {
                operations[last].description += (operations[last].description.isEmpty ? "" : " ") + text
                continue
            }
            isInDescription = false
            switch indentation {
            case 2: path = String(text.dropLast())
            case 4 where ["get:", "post:", "put:", "patch:", "delete:"].contains(text):
                operations.append(Operation(method: text.dropLast().uppercased(), path: path))
            case 6:
                guard let last = operations.indices.last, operations[last].path == path else { continue }
                if let value = value(of: "summary", in: text) { operations[last].summary = value }
                if let value = value(of: "tags", in: text) { operations[last].group = String(value.dropFirst().dropLast()) }
                if let value = value(of: "description", in: text) {
                    isInDescription = value == "|"
                    if !isInDescription { operations[last].description = value }
                }
            default: break
            }
        }
        return operations
    }

    private static func value(of name: String, in text: Substring) -> String? {
        guard text.hasPrefix(name + ": ") else { return nil }
        return String(text.dropFirst(name.utf8.count + 2))
    }

    private static func page(_ operations: [Operation]) -> String {
        var body = ""
        for (group, title) in [("search", "Search"), ("downloads", "Downloads"), ("events", "Events"), ("service", "Service")] {
            body += "<h2>\(title)</h2>\n<dl>\n"
            for operation in operations where operation.group == group {
                body += "<dt><code><b>\(operation.method)</b> \(escaped(operation.path))</code></dt>\n"
                body += "<dd>\(marked(operation.summary))"
                if !operation.description.isEmpty { body += "<p>\(marked(operation.description))</p>" }
                body += "</dd>\n"
            }
            body += "</dl>\n"
        }
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>Pawl: the API</title>
            <style>
            :root { color-scheme: light dark; }
            body { font: 1rem/1.6 system-ui, sans-serif; max-width: 48rem; margin: 0 auto; padding: 3rem 1.25rem; }
            h1 { margin: 0 0 .25rem; }
            h2 { margin: 2.5rem 0 .5rem; font-size: 1.25rem; }
            dt { margin-top: 1rem; }
            dd { margin: .15rem 0 0 1.5rem; }
            dd p { margin: .25rem 0; opacity: .8; }
            code { font: .95em/1.5 ui-monospace, monospace; }
            a { color: inherit; }
            </style>
            </head>
            <body>
            <main>
            <h1>The API of Pawl</h1>
            <p>Parameters, bodies and problems are all in <a href="/openapi.yaml"><code>/openapi.yaml</code></a> (OpenAPI 3.1).</p>
            \(body)</main>
            </body>
            </html>

            """
    }

    /// Text with what stands between backquotes as code.
    private static func marked(_ text: String) -> String {
        var result = ""
        for (index, part) in escaped(text).split(separator: "`", omittingEmptySubsequences: false).enumerated() {
            result += index.isMultiple(of: 2) ? String(part) : "<code>\(part)</code>"
        }
        return result
    }

    /// Text as a page must write it.
    static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
        return result
    }
}
