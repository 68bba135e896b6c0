internal import DownloadCore
internal import DownloadFiles
internal import DownloadStore

/// The order of events, actions, commits and results over all machines. Pure.
///
/// Events are handled one after the other, each with all its actions. The removal of a file interrupts the actions of its
/// download. Later events of that download wait until the removal has ended. The changes of an event are one commit, and
/// so are the changes of all events in a group. A result waits until earlier removals are durable.
struct MachineRunner {
    /// The result of a command, and the number of the wait for it.
    struct Answer {
        let waiter: DownloadMachine.Waiter
        let result: Result<Download, DownloadError>
    }

    /// Changes that become durable together.
    struct ChangeGroup {
        var changes: [StoreChange] = []
        /// The operations that the changes belong to.
        var commits: [(RecordID, DownloadMachine.Operation)] = []
        /// Log events about these changes. They are discarded if the database refuses the changes of a replica without a lease.
        var news: [DownloadLogEvent] = []
    }

    /// The files that the actions of an event have removed. The removals are made durable, and
    /// ``MachineRunner/flushed(_:)`` notes that. Then the disk space is freed.
    struct Removals {
        var files = RemovedFiles()
        /// The results that wait until the disk space is free.
        var late: [Answer] = []
    }

    enum Step {
        /// The machine handles an event. ``MachineRunner/add(_:)`` takes its actions.
        case handle(DownloadMachine.Event, RecordID)
        /// Actions are carried out, and then ``MachineRunner/recycle(_:)`` takes the array. Only the last one may remove files.
        case perform([DownloadMachine.Action], RecordID)
        /// All actions of an event have been carried out. `nil`: they have removed no files.
        case end(RecordID, Removals?)
        case commit(ChangeGroup)

        /// The download whose machine or actions the step concerns; `nil`: none.
        var id: RecordID? {
            switch self {
            case .handle(_, let id), .perform(_, let id), .end(let id, _): id
            case .commit: nil
            }
        }
    }

    private enum Work {
        case event(DownloadMachine.Event)
        case action(DownloadMachine.Action)
        /// The end of a removal. The machine handles the event about it before the remaining actions.
        case resumption(RemovedFiles, DownloadMachine.Event?)
    }

    /// The actions of an event.
    private struct Course {
        /// The download of the event; `nil`: no event is being handled.
        var id: RecordID?
        var actions: [DownloadMachine.Action] = []
        /// The number of these that have been carried out.
        var next = 0
        /// The last action of a step.
        var last: DownloadMachine.Action?
        var removals = Removals()
    }

    private var course = Course()
    private var queue: [(id: RecordID, work: Work)] = []
    /// The interrupted actions of each download, and its later work.
    private var interrupted: [RecordID: (course: Course, queue: [(id: RecordID, work: Work)])] = [:]
    /// The numbers of removals that are being made durable, and the results that wait for them.
    private var flushes: [RecordID: (count: Int, answers: [Answer])] = [:]
    private var group = ChangeGroup()
    private var isGrouping = false
    private var isRunning = false

    /// The waits of requests for their results.
    var waits = RequestWaits()

    /// Whether no event is being handled, and no group is open.
    var isIdle: Bool { !isRunning && !isGrouping }

    /// Whether actions or events of a download wait.
    func hasWork(for id: RecordID) -> Bool { interrupted[id] != nil || queue.contains { $0.id == id } }

    // MARK: - Input

    mutating func send(_ event: DownloadMachine.Event, to id: RecordID) { queue.append((id, .event(event))) }

    /// Adds an action that precedes all waiting events.
    mutating func insert(_ action: DownloadMachine.Action, for id: RecordID) { queue.insert((id, .action(action)), at: 0) }

    /// Adds a change to the present group.
    mutating func submit(_ change: StoreChange) { group.changes.append(change) }

    /// Adds changes to the present group.
    mutating func submit(_ changes: [StoreChange], for commit: (RecordID, DownloadMachine.Operation)? = nil) {
        group.changes += changes
        if let commit { group.commits.append(commit) }
    }

    /// Adds a log event to the present group.
    mutating func note(_ event: DownloadLogEvent) { group.news.append(event) }

    /// Begins a group: the changes of all events until ``closeGroup()`` become durable together.
    mutating func openGroup() { isGrouping = true }

    mutating func closeGroup() { isGrouping = false }

    // MARK: - Steps

    /// Begins to run.
    /// - Returns: False if the runner runs already: its steps include what was sent since.
    mutating func begin() -> Bool {
        defer { isRunning = true }
        return !isRunning
    }

    /// Returns the next step; `nil`: nothing is left, and the run ends.
    mutating func next() -> Step? {
        if let id = course.id { return nextActions(of: id) ?? end(of: id) }
        if !isGrouping, !group.changes.isEmpty || !group.news.isEmpty {
            defer { group = ChangeGroup() }
            return .commit(group)
        }
        while let (id, work) = queue.first {
            queue.removeFirst()
            if let step = begin(work, of: id) { return step }
        }
        isRunning = false
        return nil
    }

    /// Returns the next actions, up to the first one that removes files. While results wait, it returns one at a time.
    private mutating func nextActions(of id: RecordID) -> Step? {
        let isFlushing = flushes[id] != nil
        while course.next < course.actions.count {
            let isPending = course.removals.files.isPending
            if isPending || isFlushing, case .answer(let waiter, let result) = course.actions[course.next] {
                course.next += 1
                let answer = Answer(waiter: waiter, result: result)
                // After the result, power loss must not restore the file.
                if isPending { course.removals.late.append(answer) } else { flushes[id]?.answers.append(answer) }
                continue
            }
            let rest = course.actions[course.next...]
            let last = isPending || isFlushing ? rest.startIndex : rest.firstIndex(where: \.removesFiles) ?? rest.endIndex - 1
            course.last = rest[last]
            if rest.count == course.actions.count, last == rest.endIndex - 1 {
                var actions: [DownloadMachine.Action] = []
                swap(&actions, &course.actions)
                return .perform(actions, id)
            }
            course.next = last + 1
            return .perform(Array(rest[...last]), id)
        }
        return nil
    }

    private mutating func end(of id: RecordID) -> Step {
        (course.id, course.next) = (nil, 0)
        course.actions.removeAll(keepingCapacity: true)
        guard course.removals.files.isPending else { return .end(id, nil) }
        flushes[id, default: (0, [])].count += 1
        defer { course.removals = Removals() }
        return .end(id, course.removals)
    }

    private mutating func begin(_ work: Work, of id: RecordID) -> Step? {
        switch work {
        case .resumption(let files, let event):
            guard let (found, waiting) = interrupted.removeValue(forKey: id) else { return nil }
            course = found
            course.removals.files.add(files)
            queue.insert(contentsOf: waiting, at: 0)
            return event.map { .handle($0, id) } ?? next()
        case _ where interrupted[id] != nil:
            interrupted[id]?.queue.append((id, work))
            return nil
        case .event(let event):
            course.id = id
            return .handle(event, id)
        case .action(let action):
            (course.id, course.actions) = (id, [action])
            return next()
        }
    }

    // MARK: - Results of steps

    /// Adds the actions of the event that was handled, after the present ones, and empties the array.
    mutating func add(_ actions: inout [DownloadMachine.Action]) {
        if course.actions.isEmpty {
            swap(&course.actions, &actions)
        } else {
            course.actions += actions
            actions.removeAll(keepingCapacity: true)
        }
    }

    /// Takes the array of a step whose actions have been carried out, for later actions.
    mutating func recycle(_ actions: consuming [DownloadMachine.Action]) {
        guard course.actions.isEmpty else { return }
        actions.removeAll(keepingCapacity: true)
        course.actions = actions
    }

    /// Interrupts the present actions until ``resume(_:with:then:)``: the last one begins to remove files.
    mutating func interrupt() {
        guard let id = course.id else { return }
        interrupted[id] = (course, [])
        course = Course()
    }

    /// Returns the removal that a download's actions wait for; `nil`: they wait for none.
    func interruption(of id: RecordID) -> DownloadMachine.Action? { interrupted[id]?.course.last }

    /// Resumes the actions of a download before all waiting events.
    /// - Parameters:
    ///   - files: The removed files.
    ///   - event: The event about the removal; `nil`: the machine does not need to know it.
    mutating func resume(_ id: RecordID, with files: RemovedFiles, then event: DownloadMachine.Event?) {
        queue.insert((id, .resumption(files, event)), at: 0)
    }

    /// Notes that the removals of an event are durable.
    /// - Returns: The results that have waited for that.
    mutating func flushed(_ id: RecordID) -> [Answer] {
        guard let flush = flushes[id] else { return [] }
        flushes[id] = flush.count > 1 ? (flush.count - 1, flush.answers) : nil
        return flush.count > 1 ? [] : flush.answers
    }
}
