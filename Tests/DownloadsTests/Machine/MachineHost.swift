import HTTPCore
import System
import Testing

@testable import DownloadCore
@testable import DownloadStore
@testable import DownloadTransfer
@testable import Downloads

/// A machine with the part of the service that knows names and positions. It records all events.
struct MachineHost {
    /// An event with the time, the chance and the settings that the machine received with it.
    struct Step {
        let event: DownloadMachine.Event
        let context: DownloadMachine.Context
    }

    private(set) var machine: DownloadMachine
    var context: DownloadMachine.Context
    var names: FileNames
    /// The machine before the first event, the events, and the text of the actions of each.
    private let start: DownloadMachine
    private(set) var steps: [Step] = []
    private(set) var actions: [[DownloadMachine.Action]] = []

    init(_ machine: DownloadMachine, seed: UInt64, names: FileNames) {
        self.machine = machine
        start = machine
        self.names = names
        context = DownloadMachine.Context(
            now: Timestamp(millisecondsSinceEpoch: 1_000_000), random: SeededRandom(seed: seed), retryPolicy: RetryPolicy())
    }

    /// Has the machine handle an event.
    /// - Returns: The actions to carry out. Those about names are carried out, and queries are answered.
    mutating func send(_ event: DownloadMachine.Event) -> [DownloadMachine.Action] {
        var effects = handle(event)
        var next = 0
        while next < effects.count {
            effects += perform(effects[next])
            next += 1
        }
        return effects
    }

    /// Has the machine handle an event with the name that belongs to it.
    /// - Returns: The actions of the event.
    mutating func handle(_ event: DownloadMachine.Event) -> [DownloadMachine.Action] { record(completed(event)) }

    /// Carries out an action about names, or answers a query.
    /// - Returns: The actions of the answer.
    mutating func perform(_ action: DownloadMachine.Action) -> [DownloadMachine.Action] {
        if case .query(let query) = action { return record(.fact(fact(query))) }
        follow(action)
        return []
    }

    private mutating func record(_ event: DownloadMachine.Event) -> [DownloadMachine.Action] {
        steps.append(Step(event: event, context: context))
        machine.handle(event, &context)
        actions.append(context.actions)
        defer { context.actions = [] }
        return context.actions
    }

    private mutating func completed(_ event: DownloadMachine.Event) -> DownloadMachine.Event {
        let download = machine.record.download
        switch event {
        case .slotAcquired: return .slotAcquired(obstacle: names.objection(toFolder: download.folder, for: download.id))
        case .accepted(let operation, let acceptance, _):
            guard let wanted = machine.wantedName(acceptance, of: operation) else { return event }
            let reserved = names.reserve(FilePath(wanted, in: download.folder), for: download.id).name
            return .accepted(
                operation, acceptance, name: DownloadMachine.ResponseName(wanted: wanted, reserved: reserved))
        default: return event
        }
    }

    private mutating func fact(_ query: DownloadMachine.Query) -> DownloadMachine.Fact {
        switch query {
        case .version(let isExpected): .version(isExpected: isExpected(machine.record.download))
        case .name(let path): .name(names.reserve(path, for: machine.id).name)
        case .placement(_, let rank, _): .placement(QueuePlacement(position: 0, rank: rank))
        }
    }

    private mutating func follow(_ action: DownloadMachine.Action) {
        switch action {
        case .assignName, .releaseName, .publishRemoval: names.release(machine.id)
        case .reserveFolder(let folder): names.reserve(folder: folder, for: machine.id)
        case .restoreName(let path): names.restore(path.name, in: path.folder, for: machine.id)
        default: break
        }
    }

    /// Sends the recorded events to a new machine, and expects the same actions and the same state after each.
    func expectSameReplay() {
        var machine = start
        for (step, expected) in zip(steps, actions) {
            var context = step.context
            machine.handle(step.event, &context)
            guard text(context.actions) == text(expected) else {
                Issue.record("\(step.event.words) has other actions: \(context.actions.compactMap(\.words))")
                return
            }
        }
        #expect(text(machine) == text(self.machine))
    }

    /// All values of a machine or of its actions, also those in classes.
    private func text(_ value: some Any) -> String {
        var text = ""
        dump(value, to: &text)
        return text
    }
}
