// Writes the page of `/docs` to standard output, or the table of options into their page. Run after a change to openapi.yaml, or
// to the options:
//     swift run reference openapi.yaml > Sources/PawlService/Resources/reference.html
//     swift run reference docs/options.md

internal import Glibc
internal import System

do throws(SmallFile.Failure) {
    let path = CommandLine.arguments.dropFirst().first ?? "openapi.yaml"
    let document = String(decoding: try SmallFile.read(path, limit: 1 << 20), as: UTF8.self)
    if let page = OptionsPage.updated(document) {
        let mode = SmallFile.defaultMode()
        try SmallFile.write(Array(page.utf8), to: path)
        _ = unsafe chmod(path, mode)
    } else {
        StandardStreams.writeOutput(ReferencePage(document).html)
    }
} catch {
    StandardStreams.writeError("reference: \(error)\n")
    exit(1)
}
