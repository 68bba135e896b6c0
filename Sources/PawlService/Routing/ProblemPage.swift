internal import HTTPCore

/// The HTML explanation of a problem's code: one document without scripts or external resources.
enum ProblemPage {
    /// The page of one code.
    static func bytes(_ code: ProblemCode) -> [UInt8] {
        Array(
            """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(code.rawValue)</title>
            <style>
            :root { color-scheme: light dark; }
            body { font: 1rem/1.6 system-ui, sans-serif; max-width: 44rem; margin: 0 auto; padding: 3rem 1.25rem; }
            h1 { font-size: 1.5rem; margin: 0; }
            code { font: .9rem/1.5 ui-monospace, monospace; }
            a { color: inherit; }
            </style>
            </head>
            <body>
            <main>
            <h1>\(code.title)</h1>
            <p><code>\(code.rawValue)</code>, a response with status \(code.status.code).</p>
            <p>\(code.meaning)</p>
            <p>The API is described in <a href="../docs">/docs</a>.</p>
            </main>
            </body>
            </html>

            """.utf8)
    }
}
