/// The API reference in HTML, generated from `openapi.yaml`: one document without scripts or external resources.
struct ReferencePage {
    /// One method of a path.
    struct Operation: Sendable, Equatable {
        let method: String
        let path: String
        let group: String
        let summary: String
        let description: String
        let parameters: [Member]
        /// The body of a request; `nil` if it has none.
        let body: Member?
        let responses: [Response]
    }

    /// A parameter, or a member of an object.
    struct Member: Sendable, Equatable {
        let name: String
        /// The type and accepted values, as HTML.
        let kind: String
        let description: String
    }

    /// A response with its status.
    struct Response: Sendable, Equatable {
        /// The status; `default` stands for all others.
        let status: String
        let description: String
        let body: Member?
    }

    private let document: DocumentOutline

    init(_ document: String) {
        self.document = DocumentOutline(parsing: document)
    }

    var operations: [Operation] {
        (document["paths"]?.children ?? []).flatMap { path in
            path.children.filter { ["get", "put", "post", "patch", "delete"].contains($0.key) }.map { operation in
                Operation(
                    method: operation.key.uppercased(), path: path.key, group: operation["tags"]?.items.first ?? "",
                    summary: operation.text("summary") ?? "", description: operation.text("description") ?? "",
                    parameters: [path, operation].flatMap { $0["parameters"]?.children ?? [] }.map { parameter(target(of: $0)) },
                    body: operation["requestBody"].flatMap { body(of: target(of: $0)) },
                    responses: (operation["responses"]?.children ?? []).map { node in
                        let response = target(of: node)
                        return Response(
                            status: node.key, description: response.text("description") ?? "", body: body(of: response))
                    })
            }
        }
    }

    /// The objects in requests and responses, each with its members.
    private var objects: [(name: String, description: String, members: [Member])] {
        (document["components"]?["schemas"]?.children ?? []).compactMap { schema in
            guard let properties = schema["properties"] else { return nil }
            let members = properties.children.map { Member(name: $0.key, kind: kind(of: $0), description: meaning(of: $0)) }
            return (schema.key, schema.text("description") ?? "", members)
        }
    }

    /// The target of a reference; other nodes are returned unchanged.
    private func target(of node: DocumentOutline) -> DocumentOutline {
        guard let reference = node.text("$ref") else { return node }
        return reference.split(separator: "/").dropFirst().reduce(document) { $0?[String($1)] } ?? node
    }

    private func parameter(_ node: DocumentOutline) -> Member {
        let location = node.text("in") ?? ""
        let isRequired = node.text("required") == "true"
        return Member(
            name: node.text("name") ?? "",
            kind: "\(location)\(isRequired && location != "path" ? ", required" : ""): " + (node["schema"].map(kind(of:)) ?? ""),
            description: node.text("description") ?? "")
    }

    private func body(of node: DocumentOutline) -> Member? {
        guard let content = node["content"]?.children.first else { return nil }
        return Member(
            name: content.key, kind: content["schema"].map(kind(of:)) ?? "", description: node.text("description") ?? "")
    }

    private func meaning(of schema: DocumentOutline) -> String {
        schema.text("description") ?? target(of: schema).text("description") ?? ""
    }

    /// The type and accepted values of a schema in a few words. An object is a link to the table of its members.
    private func kind(of schema: DocumentOutline) -> String {
        if let reference = schema.text("$ref") {
            let name = String(reference.split(separator: "/").last ?? "")
            let target = target(of: schema)
            return target["properties"] == nil ? kind(of: target) : "<a href=\"#\(name)\">\(name)</a>"
        }
        if let choices = schema["oneOf"], schema["properties"] == nil {
            return choices.children.map(kind(of:)).joined(separator: " or ")
        }
        let values = (schema["enum"]?.items ?? []).map { "<code>\(Self.escaped($0))</code>" }
        let types = schema["type"].map { $0.items.isEmpty ? [$0.value] : $0.items } ?? []
        var text = values.prefix(30).joined(separator: ", ") + (values.count > 30 ? " and \(values.count - 30) more" : "")
        if values.isEmpty { text = Self.escaped(types.joined(separator: " or ")) }
        if let properties = schema["properties"] {
            text = "object with " + properties.children.map { "<code>\($0.key)</code> (\(kind(of: $0)))" }.joined(separator: ", ")
        }
        if let items = schema["items"] { text = text.replacing("array", with: "array of " + kind(of: items)) }
        switch (schema.text("minimum"), schema.text("maximum")) {
        case (let minimum?, let maximum?) where maximum.utf8.count < 19: text += ", \(minimum) to \(maximum)"
        case (let minimum?, _): text += ", at least \(minimum)"
        default: break
        }
        if let preset = schema.text("default") { text += ", by default <code>\(Self.escaped(preset))</code>" }
        return text
    }

    private func table(_ members: [Member]) -> String {
        guard !members.isEmpty else { return "" }
        let rows = members.map { member in
            "<tr><th scope=\"row\"><code>\(Self.escaped(member.name))</code></th><td>\(Self.marked(member.description)) "
                + "<small>\(member.kind)</small></td></tr>\n"
        }
        return "<table>\n\(rows.joined())</table>\n"
    }

    private func section(_ operation: Operation) -> String {
        var text = "<h3><code><b>\(operation.method)</b> \(Self.escaped(operation.path))</code></h3>\n"
        text += "<p>\(Self.marked(operation.summary)) \(Self.marked(operation.description))</p>\n"
        text += table(operation.parameters)
        if let body = operation.body {
            text += "<p>Body: \(body.description.isEmpty ? body.kind : Self.marked(body.description))</p>\n"
        }
        text += "<details><summary>Responses</summary>\n<table>\n"
        for response in operation.responses {
            text += "<tr><th scope=\"row\"><code>\(response.status)</code></th><td>\(Self.marked(response.description))"
            if let body = response.body { text += " <small><code>\(body.name)</code>: \(body.kind)</small>" }
            text += "</td></tr>\n"
        }
        return text + "</table>\n</details>\n"
    }

    /// The page.
    var html: String {
        let operations = operations
        var body = ""
        for group in ["search", "downloads", "subscriptions", "events", "service"] {
            body += "<h2>\(group.prefix(1).uppercased() + group.dropFirst())</h2>\n"
            for operation in operations where operation.group == group { body += section(operation) }
        }
        body += "<h2>Objects</h2>\n"
        for object in objects {
            body += "<h3 id=\"\(object.name)\">\(object.name)</h3>\n<p>\(Self.marked(object.description))</p>\n"
            body += table(object.members)
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
            h3 { margin: 2rem 0 .25rem; font-size: 1rem; overflow-wrap: anywhere; }
            p { margin: .25rem 0; }
            table { border-collapse: collapse; margin: .5rem 0; }
            th, td { padding: .2rem 1rem .2rem 0; text-align: start; vertical-align: baseline; overflow-wrap: anywhere; }
            th { white-space: nowrap; font-weight: inherit; }
            small { opacity: .75; }
            summary { cursor: pointer; }
            code { font: .95em/1.5 ui-monospace, monospace; }
            a { color: inherit; }
            </style>
            </head>
            <body>
            <main>
            <h1>The API of Pawl</h1>
            <p>\(Self.marked(document["info"]?.text("description") ?? ""))</p>
            <p>All of this, and the form of every value, is in <a href="openapi.yaml"><code>/openapi.yaml</code></a> (OpenAPI 3.1).</p>
            \(body)</main>
            </body>
            </html>

            """
    }

    /// Text as HTML, with code between backquotes marked up.
    private static func marked(_ text: String) -> String {
        var result = ""
        for (index, part) in escaped(text).split(separator: "`", omittingEmptySubsequences: false).enumerated() {
            result += index.isMultiple(of: 2) ? String(part) : "<code>\(part)</code>"
        }
        return result
    }

    /// Text escaped for HTML.
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
