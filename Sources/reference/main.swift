// Writes the page of `/docs` to standard output. Run after a change to openapi.yaml:
//     swift run reference openapi.yaml > Sources/PawlService/Resources/reference.html

internal import Glibc
internal import System

do throws(SmallFile.Failure) {
    let document = try SmallFile.read(CommandLine.arguments.dropFirst().first ?? "openapi.yaml", limit: 1 << 20)
    StandardStreams.writeOutput(ReferencePage(String(decoding: document, as: UTF8.self)).html)
} catch {
    StandardStreams.writeError("reference: \(error)\n")
    exit(1)
}
