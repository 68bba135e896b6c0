import HTTPCore
import System
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadStore
@testable import Downloads

@Suite("Existing downloads of a work that is requested again")
struct WorkPreparationTests {
    private static let label = "work"

    /// Publishes downloads from texts such as `a failed work`: a letter of a URL, the state, and whether it has the
    /// label. `p` as a last word: it is the part with the id 1.
    private static func index(_ texts: String) -> (SnapshotIndex, [RecordID: String]) {
        let index = SnapshotIndex()
        var letters: [RecordID: String] = [:]
        for (number, text) in texts.split(separator: ",").enumerated() {
            let words = text.split(separator: " ").map(String.init)
            let id = RecordID(value: UInt128(1_800_000_000_000 + number) << 80)
            var download = Download(
                id: id, url: "https://example.com/\(words[0])", state: DownloadState(rawValue: words[1]) ?? .failed,
                createdAt: id.createdAt)
            if words.contains("work") { download.labels = [label] }
            if words.last == "p" { download.track = Array(#"{"id":"1"}"#.utf8) }
            letters[id] = words[0]
            index.publish(download, counters: nil)
        }
        return (index, letters)
    }

    @Test(
        "Current downloads get the label, superseded ones lose it, and ended ones continue with the request's URL",
        arguments: [
            ("", "a", ""), ("a queued", "a", "label a"), ("a queued work", "a", ""), ("a completed", "a", "label a"),
            ("a completed work gone", "a", "unlabel a"), ("a failed work", "a", "resume a"),
            ("a cancelled work", "a", "retry a"), ("a failed", "a", ""), ("b failed work p", "a p", "url b, resume b"),
            ("b failed work p, a queued", "a p", "label a"), ("b completed work p", "a p", ""),
            ("a failed work", "a new", ""), ("a queued", "a reject", ""), ("a queued", "a, a", "label a"),
        ])
    func steps(_ downloads: String, _ requests: String, _ expected: String) {
        let (index, letters) = Self.index(downloads)
        var preparation = WorkPreparation(label: Self.label)
        let new = requests.split(separator: ",").compactMap { text -> NewDownload? in
            let words = text.split(separator: " ").map(String.init)
            guard let url = HTTPURL("https://example.com/\(words[0])") else { return nil }
            var new = NewDownload(url: url)
            if words.contains("new") { new.onDuplicate = .new }
            if words.contains("reject") { new.onDuplicate = .reject }
            if words.last == "p" { new.track = Array(#"{"id":"1"}"#.utf8) }
            return new
        }
        let isGone = downloads.contains("gone")
        func steps() -> [(DownloadMachine.Command.Request, RecordID)] {
            preparation.steps(for: new, in: index) { $0.state.isLive || ($0.state == .completed && !isGone) }
        }
        let texts = steps().map { request, id -> String in
            let letter = letters[id] ?? "?"
            return switch request {
            case .resume: "resume \(letter)"
            case .retry: "retry \(letter)"
            case .change(let change) where change.addedLabel == Self.label: "label \(letter)"
            case .change(let change) where change.removedLabel == Self.label: "unlabel \(letter)"
            case .change(let change) where change.url != nil: "url \(letter)"
            default: "other \(letter)"
            }
        }
        #expect(texts.joined(separator: ", ") == expected)
        // Prepared downloads need no other step, whatever state they have by now.
        #expect(isGone || steps().isEmpty)
    }
}
