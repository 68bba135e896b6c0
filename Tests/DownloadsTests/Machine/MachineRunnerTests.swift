import DownloadFiles
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadStore
@testable import Downloads

/// The steps of a runner for the events of its machines: a table of (events, results of actions) and steps.
@Suite("The order of events, actions and commits", .timeLimit(.minutes(1)))
struct MachineRunnerTests {
    /// `script` has the actions of each event, `input` the events and the results of actions, in the words of `RunnerScene`.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let script: [String: String]
        let input: String
        let steps: String

        init(_ description: String, _ script: [String: String], _ input: String, _ steps: String) {
            (testDescription, self.script, self.input, self.steps) = (description, script, input, steps)
        }
    }

    static let rows = [
        Row("All actions of an event are carried out", ["a1": "x y"], "a1", "a1: x y end"),
        Row("An event without a machine has no actions", [:], "a1", "a1: end"),
        Row("An event that an action sends follows all actions", ["a1": "b1 x", "b1": "y"], "a1", "a1: x end b1: y end"),
        Row(
            "Events that actions send are handled in order", ["a1": "b1 a2", "b1": "c1"], "a1", "a1: end b1: end a2: end c1: end"),
        Row("The actions of an answer to a query follow the others", ["a1": "? x", "fact": "y"], "a1", "a1: ? x y end"),
        Row(
            "The changes of an event become durable together, before the next event", ["a1": "save1 b1 save2", "b1": "save3"],
            "a1", "a1: end commit(1 2) b1: end commit(3)"),
        Row("The end of an event may have changes", ["a1": "save1", "end": "save2"], "a1", "a1: end commit(1 2)"),
        Row("Changes without an event become durable", [:], "save7", "commit(7)"),
        Row(
            "The changes of a group become durable together", ["a1": "save1", "b1": "save2"], "( a1 b1 )",
            "a1: end b1: end commit(1 2)"),
        Row("A group without changes has no commit", ["a1": "x"], "( a1 )", "a1: x end"),
        Row("News comes with the commit", ["a1": "news save1"], "a1", "a1: end commit(1 news)"),
        Row("News without changes is told as well", ["a1": "news"], "a1", "a1: end commit(news)"),
        Row("A result is sent at its place", ["a1": "x answer1 y"], "a1", "a1: x answer1 y end"),
        Row("A removal interrupts the actions", ["a1": "x remove y"], "a1", "a1: x"),
        Row(
            "The changes before a removal become durable", ["a1": "save1 remove save2"], "a1 gone:a",
            "a1: commit(1) end commit(2)"),
        Row("The actions go on after a removal", ["a1": "remove x"], "a1 gone:a", "a1: x end"),
        Row("Several removals follow each other", ["a1": "remove x remove y"], "a1 gone:a ... gone:a", "a1: x ... y end"),
        Row(
            "The event about a removal is handled before the other actions", ["a1": "remove x", "a9": "y"], "a1 gone:a9",
            "a1: a9: x y end"),
        Row("An event waits for a removal", ["a1": "remove x", "a2": "y"], "a1 a2 ... gone:a", "a1: ... x end a2: y end"),
        Row(
            "Events that have waited precede those that come later", ["a1": "remove b1", "a2": "x"], "a1 a2 gone:a",
            "a1: end a2: x end b1: end"),
        Row(
            "An event that has waited may begin another removal", ["a1": "remove", "a2": "remove x", "a3": "y"],
            "a1 a2 a3 gone:a ... gone:a", "a1: end a2: ... x end a3: y end"),
        Row(
            "Another download does not wait for a removal", ["a1": "remove x", "b1": "y"], "a1 b1 gone:a", "a1: b1: y end x end"),
        Row("The end of a removal that has not begun has no effect", ["a1": "x"], "gone:a a1", "a1: x end"),
        Row("An inserted action precedes waiting events", ["a1": "b1 <remove", "b1": "x"], "a1 gone:a", "a1: end b1: x end end"),
        Row(
            "A result waits for the disk space of removed files", ["a1": "remove answer1 x"], "a1 freed:a",
            "a1: x end(answer1)"),
        Row("A result before the removal does not wait", ["a1": "answer1 remove"], "a1 freed:a", "a1: answer1 end()"),
        Row(
            "A later result waits until a removal is durable", ["a1": "remove", "a2": "answer2"], "a1 freed:a a2 ... flushed:a",
            "a1: end() a2: end ... answer2"),
        Row(
            "A later result waits until all removals are durable", ["a1": "remove", "a2": "answer2"],
            "a1 freed:a a1 freed:a a2 flushed:a ... flushed:a", "a1: end() a1: end() a2: end ... answer2"),
        Row(
            "A result of another download does not wait for a removal", ["a1": "remove", "b1": "answer2"], "a1 freed:a b1",
            "a1: end() b1: answer2 end"),
    ]

    @Test("Orders the steps", arguments: rows)
    func order(_ row: Row) throws {
        var scene = try RunnerScene(row.script)
        for word in row.input.split(separator: " ") { scene.take(String(word)) }
        #expect(scene.steps.joined(separator: " ") == row.steps)
        #expect(scene.runner.isIdle)
    }

    @Test("Has work while a removal is under way or an event waits")
    func work() throws {
        var scene = try RunnerScene(["a1": "remove"])
        let a = RunnerScene.id("a")
        #expect(!scene.runner.hasWork(for: a))
        scene.take("a1")
        #expect(scene.runner.hasWork(for: a) && !scene.runner.hasWork(for: RunnerScene.id("b")))
        scene.take("gone:a")
        #expect(!scene.runner.hasWork(for: a))
        scene.runner.send(RunnerScene.event("a2"), to: a)
        #expect(scene.runner.hasWork(for: a))
    }
}

/// An interpreter that reads the actions of events from a script, and writes the steps down.
///
/// `a1` is an event of the download `a`; as an action it sends that event. `save1`, `answer1` and `news` have their results, and
/// `?` is a query with the event `fact`. `remove` begins a removal, which `gone:a` ends: with the event `a9` if it is `gone:a9`,
/// and with files to make durable if it is `freed:a`, which `flushed:a` does. `<remove` inserts a removal. `...` is written as it is.
private struct RunnerScene {
    private(set) var steps: [String] = []
    var runner = MachineRunner()
    private let script: [String: String]
    private let removed: RemovedFiles

    init(_ script: [String: String]) throws {
        self.script = script
        removed = RemovedFiles(directories: [try Directory(reaching: "/")])
    }

    static func id(_ name: some StringProtocol) -> RecordID { RecordID(value: UInt128(name.utf8.first ?? 0)) }

    /// The event with a name, which is the number of a timer.
    static func event(_ name: some StringProtocol) -> DownloadMachine.Event { .timer(.retry(number(name))) }

    private static func number(_ name: some StringProtocol) -> UInt64 { name.utf8.reduce(0) { $0 << 8 | UInt64($1) } }

    private static func name(_ number: UInt64) -> String {
        let bytes = (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        return String(decoding: bytes.drop { $0 == 0 }, as: UTF8.self)
    }

    private func actions(of event: String) -> [DownloadMachine.Action] {
        (script[event] ?? "").split(separator: " ").map { name in
            if name.hasPrefix("answer") { return .answer(Self.number(name.dropFirst(6)), .failure(.notFound)) }
            return name == "remove" ? .discardPart : .cancelTimer(.retry(Self.number(name)))
        }
    }

    mutating func take(_ word: String) {
        let parts = word.split(separator: ":")
        switch parts[0] {
        case "(": runner.openGroup()
        case ")": runner.closeGroup()
        case "...": steps.append(word)
        case "gone", "freed":
            runner.resume(
                Self.id(parts[1]), with: parts[0] == "freed" ? removed : RemovedFiles(),
                then: parts[1].count > 1 ? Self.event(parts[1]) : nil)
        case "flushed": steps += runner.flushed(Self.id(parts[1])).map(Self.word)
        default: send(word)
        }
        run()
    }

    private mutating func send(_ word: String) {
        if word.hasPrefix("save") {
            runner.submit(.set(name: String(word.dropFirst(4)), value: nil))
        } else {
            runner.send(Self.event(word), to: Self.id(word))
        }
    }

    private static func word(_ answer: MachineRunner.Answer) -> String { "answer" + name(answer.waiter) }

    private mutating func run() {
        guard runner.begin() else { return }
        while let step = runner.next() {
            switch step {
            case .handle(let event, _):
                guard case .timer(.retry(let number)) = event else { return steps.append("another event") }
                steps.append(Self.name(number) + ":")
                var actions = actions(of: Self.name(number))
                runner.add(&actions)
            case .perform(let actions, let id):
                for action in actions { perform(action, id) }
                runner.recycle(actions)
            case .end(_, let removals):
                steps.append("end" + (removals.map { "(" + $0.late.map(Self.word).joined(separator: " ") + ")" } ?? ""))
                if let word = script["end"] { send(word) }
            case .commit(let group):
                let names = group.changes.map { if case .set(let name, _) = $0 { name } else { "another change" } }
                steps.append("commit(" + (names + group.news.map { _ in "news" }).joined(separator: " ") + ")")
            }
        }
    }

    private mutating func perform(_ action: DownloadMachine.Action, _ id: RecordID) {
        if case .answer(let waiter, _) = action { return steps.append("answer" + Self.name(waiter)) }
        guard case .cancelTimer(.retry(let number)) = action else { return runner.interrupt() }
        let word = Self.name(number)
        switch word {
        case "?":
            steps.append(word)
            var actions = actions(of: "fact")
            runner.add(&actions)
        case "news": runner.note(.warning("news"))
        case "<remove": runner.insert(.discardPart, for: id)
        case _ where word.last?.isNumber == true: send(word)
        default: steps.append(word)
        }
    }
}
