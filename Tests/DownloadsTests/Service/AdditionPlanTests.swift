import HTTPClient
import HTTPCore
import System
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import Downloads

/// Existing downloads, requests and decisions as texts.
///
/// A download is a letter, its state and options: `gone` (its file is missing), `prepared`, `part=ID` (of the work),
/// `gid=HEX`. A request is a letter and options: `reject`, `new`, `paused`, `at=POSITION`, `priority=`, `name=`,
/// `folder=`, `gid=`, `part=`, `mirror=HOST`, `webhook=HOST`. A letter stands for the URL of a public host, anything
/// else for the host.
private struct PlanScene {
    static let work = "work"
    private static let start: Int64 = 1_800_000_000_000

    let index = SnapshotIndex()
    private var letters: [RecordID: String] = [:]
    private var gone: Set<RecordID> = []
    private var prepared: Set<RecordID> = []
    private var pendingGIDs: Set<DownloadGID> = []
    private var arriving = RankedDownloads()
    private var context: DownloadMachine.Context
    private var names = FileNames(isTaken: { $0.description == "taken.bin" })
    private(set) var drafts = AdditionPlan.Drafts()

    init(_ downloads: String) {
        let random = SystemRandom()
        context = DownloadMachine.Context(
            now: Self.time(1_000_000), random: random, retryPolicy: RetryPolicy())
        for (number, text) in Self.split(downloads, by: ",").enumerated() { add(text, number) }
    }

    private static func time(_ milliseconds: Int64) -> Timestamp { Timestamp(millisecondsSinceEpoch: start + milliseconds) }

    private static func split(_ text: String, by separator: Character) -> [String] {
        text.split(separator: separator).map { String($0.drop { $0 == " " }) }.filter { !$0.isEmpty }
    }

    private static func url(_ name: String) -> HTTPURL? {
        HTTPURL(name.utf8.count == 1 ? "https://example.com/\(name)" : "http://\(name)/")
    }

    private static func gid(_ text: some StringProtocol) -> DownloadGID { DownloadGID(UInt64(text, radix: 16) ?? 0) }

    private static func track(_ id: some StringProtocol) -> [UInt8] { Array(#"{"id":"\#(id)"}"#.utf8) }

    private mutating func add(_ text: String, _ number: Int) {
        let words = text.split(separator: " ").map(String.init)
        let id = RecordID(value: UInt128(Self.start + Int64(number) * 1_000) << 80)
        var download = Download(id: id, url: Self.url(words[0])?.string ?? "", createdAt: Self.time(0))
        letters[id] = words[0]
        for word in words.dropFirst() {
            let value = word.split(separator: "=").last ?? ""
            switch word.prefix(while: { $0 != "=" }) {
            case "gone": gone.insert(id)
            case "prepared": prepared.insert(id)
            case "part": (download.track, download.labels) = (Self.track(value), [Self.work])
            case "gid": download.chosenGID = Self.gid(value)
            case "pending":
                arriving.insert(id, download.rank)
                if let gid = download.chosenGID { pendingGIDs.insert(gid) }
                return
            default: download.state = DownloadState(rawValue: word) ?? .failed
            }
        }
        index.publish(download, counters: nil)
    }

    private func request(_ text: String) -> NewDownload? {
        let words = text.split(separator: " ").map(String.init)
        guard let url = Self.url(words[0]) else { return nil }
        var new = NewDownload(url: url)
        for word in words.dropFirst() {
            let value = String(word.split(separator: "=", maxSplits: 1).last ?? "")
            switch word.prefix(while: { $0 != "=" }) {
            case "reject": new.onDuplicate = .reject
            case "new": new.onDuplicate = .new
            case "paused": new.startsPaused = true
            case "at": new.position = Int(value)
            case "priority": new.priority = Int(value) ?? 0
            case "name": new.filename = value
            case "folder": new.folder = value
            case "gid": new.gid = Self.gid(value)
            case "part": new.track = Self.track(value)
            case "mirror": new.mirrors = Self.url(value).map { [$0] } ?? []
            case "webhook": new.webhook = Self.url(value)
            default: return nil
            }
        }
        return new
    }

    /// Plans the requests.
    /// - Returns: The outcome of each: `new`, the letter of the existing download, or the code of a refusal; with the
    ///   position in the queue and a chosen name.
    mutating func plan(_ requests: String, label: String?) -> String {
        var plan = AdditionPlan(
            RequestRules(
                destinations: DestinationGuard(denied: (try? DestinationRule(parsing: "denied.example")).map { [$0] } ?? [])),
            index, arriving: arriving, pendingGIDs: pendingGIDs, label: label, prepared: prepared)
        var eventIDs: UInt64 = 0
        let outcomes = Self.split(requests, by: ",").map { text -> Addition.Outcome in
            guard let new = request(text) else { return .failure(Problem(.internalError, "\(text) is no request")) }
            do throws(DownloadError) {
                let gone = gone
                return .success(
                    try plan.add(
                        new, at: Self.time(2_000_000), &context, &names, hasFile: { download, _ in !gone.contains(download.id) }
                    ) {
                        eventIDs += 1
                        return EventID(epoch: 1, sequence: eventIDs)
                    })
            } catch {
                return .failure(error.problem)
            }
        }
        drafts = plan.drafts
        #expect(drafts.records.map(\.record.download.changeID.sequence) == Array(1..<(eventIDs + 1)))
        return outcomes.map { outcome -> String in
            switch outcome.map(plan.positioned) {
            case .failure(let problem): return problem.code.rawValue
            case .success(let addition):
                var text =
                    switch addition {
                    case .created: "new"
                    case .existing(let download): letters[download.id] ?? "draft"
                    }
                if let position = addition.download.position { text += " at \(position)" }
                if let path = addition.download.path, case .created = addition { text += " \(path)" }
                return text
            }
        }.joined(separator: ", ")
    }
}

@Suite("Plans of additions")
struct AdditionPlanTests {
    @Test(
        "Existing downloads are returned, or replaced once they have ended without a file",
        arguments: [
            ("", "a", "new at 0"), ("", "a paused", "new at 0"), ("a queued", "a", "a at 0"), ("a paused", "a", "a at 0"),
            ("a downloading", "a", "a"), ("a retrying", "a", "a"), ("a completed", "a", "a"),
            ("a completed gone", "a", "new at 0"),
            ("a failed", "a", "new at 0"), ("a cancelled", "a", "new at 0"), ("a failed prepared", "a", "a"),
            ("a queued", "a reject", "duplicate"), ("a completed gone", "a reject", "new at 0"),
            ("a queued", "a new", "new at 1"),
            ("a completed gone, a completed", "a", "a"), ("b queued", "a", "new at 1"),
        ])
    func existing(_ downloads: String, _ requests: String, _ expected: String) {
        var scene = PlanScene(downloads)
        #expect(scene.plan(requests, label: nil) == expected)
    }

    @Test(
        "Items of one request see the drafts before them",
        arguments: [
            ("", "a, a", "new at 0, draft at 0"), ("", "a, a reject", "new at 0, duplicate"),
            ("", "a, a new, a", "new at 0, new at 1, draft at 0"), ("", "a new, a", "new at 0, draft at 0"),
            ("a queued", "a new, a", "new at 1, draft at 1"), ("", "a, b, c", "new at 0, new at 1, new at 2"),
        ])
    func severalItems(_ downloads: String, _ requests: String, _ expected: String) {
        var scene = PlanScene(downloads)
        #expect(scene.plan(requests, label: nil) == expected)
    }

    @Test(
        "Positions are those once all drafts are in the queue",
        arguments: [
            ("p queued, q queued", "a at=0", "new at 0"), ("p queued, q queued", "a at=1", "new at 1"),
            ("p queued, q queued", "a at=99", "new at 2"), ("p queued, q queued", "a at=0, b at=0", "new at 0, new at 1"),
            ("p queued, q queued", "a at=1, b at=0, c at=1", "new at 2, new at 0, new at 3"),
            ("p queued", "p, a at=0", "p at 1, new at 0"), ("p queued", "a priority=5", "new at 0"),
            ("p queued", "a priority=-5, b", "new at 2, new at 1"), ("p completed, q paused", "a", "new at 1"),
            ("p pending, q queued", "a", "new at 2"), ("p pending, q queued", "a at=1", "new at 1"),
        ])
    func positions(_ downloads: String, _ requests: String, _ expected: String) {
        var scene = PlanScene(downloads)
        #expect(scene.plan(requests, label: nil) == expected)
    }

    @Test(
        "Names are free, and values that cannot be used are refused",
        arguments: [
            ("", "a name=x.bin", "new at 0 x.bin"), ("", "a name=taken.bin", "new at 0 taken (2).bin"),
            ("", "a name=x.bin, b name=x.bin", "new at 0 x.bin, new at 1 x (2).bin"),
            ("", "a name=x.bin folder=f, b name=x.bin", "new at 0 f/x.bin, new at 1 x.bin"),
            ("", "a name=x, b folder=x", "new at 0 x, invalid-request"), ("", "a name=a/b", "invalid-request"),
            ("", "a folder=../x", "invalid-request"), ("a queued", "a name=a/b", "invalid-request"),
            ("", "denied.example", "destination-forbidden"), ("", "a mirror=denied.example", "destination-forbidden"),
            ("", "a webhook=denied.example", "destination-forbidden"),
            ("", "denied.example, a", "destination-forbidden, new at 0"),
        ])
    func names(_ downloads: String, _ requests: String, _ expected: String) {
        var scene = PlanScene(downloads)
        #expect(scene.plan(requests, label: nil) == expected)
    }

    @Test(
        "A gid belongs to one download",
        arguments: [
            ("", "a gid=1", "new at 0"), ("", "a gid=1, b gid=1", "new at 0, invalid-request"),
            ("b queued gid=1", "a gid=1", "invalid-request"), ("b completed gid=1", "a gid=1", "invalid-request"),
            ("b gid=1 pending", "a gid=1", "invalid-request"), ("a queued gid=1", "a gid=1", "a at 0"),
        ])
    func gids(_ downloads: String, _ requests: String, _ expected: String) {
        var scene = PlanScene(downloads)
        #expect(scene.plan(requests, label: nil) == expected)
    }

    @Test(
        "A part of a work is found by its id if its URL has changed",
        arguments: [
            ("a completed part=1", "b part=1", "a"), ("a completed part=1", "b part=2", "new at 0"),
            ("a completed part=1 gone", "b part=1", "new at 0"), ("a failed part=1 prepared", "b part=1", "a"),
            ("a completed part=1, b queued", "b part=1", "b at 0"), ("a completed", "b part=1", "new at 0"),
        ])
    func parts(_ downloads: String, _ requests: String, _ expected: String) {
        var scene = PlanScene(downloads)
        #expect(scene.plan(requests, label: PlanScene.work) == expected)
    }

    @Test("Without room between two arrivals, existing downloads and drafts get others and keep their order")
    func room() {
        var scene = PlanScene((0..<4).map { _ in "p queued" }.joined(separator: ","))
        let requests = Array(repeating: "a new at=2", count: 100).joined(separator: ",")
        let expected = (0..<100).map { "new at \($0 + 2)" }.joined(separator: ", ")
        #expect(scene.plan(requests, label: nil) == expected)
        #expect(!scene.drafts.reassigned.isEmpty)
    }

    @Test("The first draft of a URL holds it, unless it is wanted beside others")
    func urls() {
        var scene = PlanScene("")
        _ = scene.plan("a, a new, b new, b", label: nil)
        #expect(scene.drafts.holders == [scene.drafts.records[0].record.id])
        #expect(scene.drafts.first.count == 2)
    }
}
