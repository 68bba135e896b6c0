/// The page at the root: what this is, and where to go on. One document without scripts or anything from elsewhere.
enum StartPage {
    /// Nothing may load or run; the only style is the one in the document.
    static let contentSecurityPolicy =
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    /// The document.
    static let bytes = Array(html.utf8)

    private static let html = """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Pawl</title>
        <style>
        :root { color-scheme: light dark; }
        body { font: 1rem/1.6 system-ui, sans-serif; max-width: 44rem; margin: 0 auto; padding: 3rem 1.25rem; }
        h1 { font-size: 2rem; margin: 0 0 .25rem; }
        h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
        p { margin: .5rem 0; }
        table { border-collapse: collapse; width: 100%; }
        th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid color-mix(in srgb, currentColor 18%, transparent); }
        code, pre { font: .9rem/1.5 ui-monospace, monospace; }
        pre { padding: .9rem 1rem; overflow-x: auto; border-radius: .5rem; background: color-mix(in srgb, currentColor 8%, transparent); }
        a { color: inherit; }
        </style>
        </head>
        <body>
        <main>
        <h1>Pawl</h1>
        <p>This service finds music and other things, and downloads files: with pause and resume, over restarts and broken lines.</p>
        <h2>Try it</h2>
        <pre>curl '/search?term=bach&amp;limit=3'
        curl -d '{"url":"https://example.org/file.zip"}' -H 'Content-Type: application/json' /downloads
        curl -N /downloads/events</pre>
        <h2>What there is</h2>
        <table>
        <thead><tr><th scope="col">Path</th><th scope="col">Answers with</th></tr></thead>
        <tbody>
        <tr><td><a href="/search/sources"><code>/search/sources</code></a></td><td>where can be searched, and how</td></tr>
        <tr><td><a href="/downloads"><code>/downloads</code></a></td><td>the downloads, newest first</td></tr>
        <tr><td><a href="/downloads/events"><code>/downloads/events</code></a></td><td>what happens to them, as it happens</td></tr>
        <tr><td><a href="/stats"><code>/stats</code></a></td><td>how many there are, and how fast</td></tr>
        <tr><td><a href="/readyz"><code>/readyz</code></a></td><td>whether the service is ready</td></tr>
        <tr><td><a href="/docs"><code>/docs</code></a></td><td>the API, to read</td></tr>
        <tr><td><a href="/openapi.yaml"><code>/openapi.yaml</code></a></td><td>all of the API, in OpenAPI 3.1</td></tr>
        </tbody>
        </table>
        </main>
        </body>
        </html>
        """
}
