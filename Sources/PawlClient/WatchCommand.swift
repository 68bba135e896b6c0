internal import DownloadCore
internal import CommandLine
internal import HTTPCore
internal import JSON
internal import Synchronization
internal import System
internal import Terminal

/// `pawl watch`: a screen that is redrawn on changes, or lines if there is no terminal.
struct WatchCommand: Sendable {
    /// The maximum time between drawings: the terminal's size and the displayed times change.
    private static let tick: Duration = .milliseconds(250)
    /// The first and the maximum delay before reconnecting.
    private static let reconnectDelay: (first: Duration, longest: Duration) = (.seconds(1), .seconds(10))

    private let command: ClientCommand
    private let service: RemoteService
    private let terminal: TerminalDevice?
    private let writesJSON: Bool

    init(_ command: ClientCommand) {
        self.command = command
        service = command.service
        writesJSON = command.invocation.writesJSON
        let canDraw = TerminalDevice.canDraw(on: ProcessEnvironment.variable("TERM")) && TerminalDevice.isInput
        terminal = canDraw && !writesJSON ? TerminalDevice() : nil
    }

    /// Input from other threads.
    private struct Input: Sendable {
        var keys: [Key] = []
        var notices: [String] = []
        var lists: [[JSONValue]] = []
        var signal: Int32?
        var isInputOver = false
    }

    /// Runs until the user quits or all chosen downloads have ended, and returns the process's exit status.
    func run() async throws(RemoteError) -> Int32 {
        var chosen: Set<String> = []
        for match in try await service.resolve(command.invocation.operands, ListMemory.read(command.listPath)) {
            chosen.insert(try match.id())
        }
        // The first request is sent before the screen is opened, so that its errors are written normally.
        let first = try await list(chosen, mustExist: true)
        var model = WatchModel(server: service.name, chosen: chosen)
        model.take(list: first)
        if model.isOver { return writeEnd(first, model) }
        let input = Locked(Input())
        let (wakes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let wake: @Sendable () -> Void = { continuation.yield() }
        let terminal = terminal
        SignalWatcher.watch(limit: .seconds(2)) { signal in
            terminal?.restore()
            input.withLock { $0.signal = signal }
            wake()
        }
        terminal?.open()
        defer { terminal?.restore() }
        if terminal != nil { readKeys(into: input, wake) }
        let ticker = Task {
            while !Task.isCancelled {
                try await Task.sleep(for: Self.tick)
                wake()
            }
        }
        defer { ticker.cancel() }
        return try await loop(&model, wakes, input, wake)
    }

    /// Writes downloads that all ended before the command began, and returns the process's exit status.
    private func writeEnd(_ items: [JSONValue], _ model: WatchModel) -> Int32 {
        if writesJSON {
            for item in items { _ = StandardStreams.writeOutput(TerminalJSON.escaped(ServiceEvent.download(item).line) + "\n") }
        } else {
            _ = command.write(
                model.rows.map { command.line($0.id, $0.status.state.rawValue, $0.status.state.style, $0.status.name) })
        }
        return (model.isComplete ? ExitStatus.done : .failed).rawValue
    }

    private func loop(
        _ model: inout WatchModel, _ wakes: AsyncStream<Void>, _ input: Locked<Input>, _ wake: @escaping @Sendable () -> Void
    ) async throws(RemoteError) -> Int32 {
        var sink: EventSink? = connect(wake)
        var wait = Self.reconnectDelay.first
        wake()
        for await _ in wakes {
            let arrivals = sink?.takeArrivals()
            for event in arrivals?.events ?? [] {
                // The reader of standard output is gone.
                guard report(event, &model) else { return ExitStatus.done.rawValue }
                if case .snapshot = event {
                    wait = Self.reconnectDelay.first
                    requestList(model.chosen, input, wake)
                }
            }
            let taken = input.withLock { input in
                defer { input = Input(signal: input.signal) }
                return input
            }
            for list in taken.lists { model.take(list: list) }
            for notice in taken.notices { model.notice = TerminalText(notice) }
            if let signal = taken.signal { return 128 + signal }
            for key in taken.keys {
                switch model.take(key) {
                case .quit: return (key == .interrupt ? 130 : ExitStatus.done.rawValue)
                case .perform(let name, let id): perform(name, id, input, wake)
                case nil: break
                }
            }
            if model.isOver { return (model.isComplete ? ExitStatus.done : .failed).rawValue }
            if taken.isInputOver { return ExitStatus.done.rawValue }
            if let end = arrivals?.end {
                guard end.status != .unauthorized else { throw end }
                sink = nil
                model.connection = .offline(Self.short(end), until: .now + wait)
                if terminal == nil { ClientCommand.writeError("\(end.message); trying again") }
                wait = min(wait * 2, Self.reconnectDelay.longest)
            }
            if sink == nil, case .offline(_, let until) = model.connection, .now >= until { sink = connect(wake) }
            draw(&model)
        }
        return ExitStatus.done.rawValue
    }

    private func connect(_ wake: @escaping @Sendable () -> Void) -> EventSink {
        let sink = EventSink(service, wake: wake)
        _ = service.follow(sink)
        return sink
    }

    private func draw(_ model: inout WatchModel) {
        guard let terminal else { return }
        let size = TerminalDevice.size
        terminal.draw(model.screen(size, now: .now, command.appearance), size: size, command.appearance)
    }

    /// Applies an event to the model; without a screen, also writes it. Returns whether standard output still has a
    /// reader.
    private func report(_ event: ServiceEvent, _ model: inout WatchModel) -> Bool {
        let changed = model.take(event)
        guard terminal == nil else { return true }
        if writesJSON {
            guard model.chosen.isEmpty || isOfChosen(event, model) else { return true }
            return StandardStreams.writeOutput(TerminalJSON.escaped(event.line) + "\n")
        } else if let changed {
            let status = changed.status
            return command.write([command.line(changed.id, status.state.rawValue, status.state.style, status.name)])
        } else if case .removed(let id) = event, model.chosen.isEmpty || model.chosen.contains(id) {
            return command.write([command.line(id, "removed", .dim, "")])
        }
        return true
    }

    private func isOfChosen(_ event: ServiceEvent, _ model: WatchModel) -> Bool {
        switch event {
        case .snapshot: false
        case .download(let download): download["id"]?.string.map(model.chosen.contains) ?? false
        case .removed(let id): model.chosen.contains(id)
        }
    }

    // MARK: - Tasks and threads

    /// The newest downloads, or the chosen ones.
    private func list(_ chosen: Set<String>, mustExist: Bool = false) async throws(RemoteError) -> [JSONValue] {
        guard !chosen.isEmpty else { return try await service.list(limit: RemoteService.ClientLimits.page).items }
        var items: [JSONValue] = []
        for id in chosen.sorted() {
            do throws(RemoteError) {
                items.append(try await service.show(id))
            } catch {
                guard case .problem(.notFound, _) = error, !mustExist else { throw error }
            }
        }
        return items
    }

    private func requestList(_ chosen: Set<String>, _ input: Locked<Input>, _ wake: @escaping @Sendable () -> Void) {
        Task {
            // A failure is ignored: the stream then fails as well, or the next one requests the list again.
            guard let items = try? await list(chosen) else { return }
            input.withLock { $0.lists.append(items) }
            wake()
        }
    }

    private func perform(_ name: String, _ id: String, _ input: Locked<Input>, _ wake: @escaping @Sendable () -> Void) {
        let service = service
        Task {
            do throws(RemoteError) {
                _ = try await service.perform(name, on: id)
            } catch {
                input.withLock { $0.notices.append(error.message) }
                wake()
            }
        }
    }

    private func readKeys(into input: Locked<Input>, _ wake: @escaping @Sendable () -> Void) {
        try? Thread.start(name: "pawl-keys") {
            var decoder = KeyDecoder()
            while true {
                guard let bytes = TerminalDevice.read(within: decoder.isWaiting ? 50 : 60_000) else {
                    input.withLock { $0.isInputOver = true }
                    return wake()
                }
                let keys = bytes.isEmpty ? decoder.flush() : decoder.decode(bytes)
                guard !keys.isEmpty else { continue }
                input.withLock { $0.keys += keys }
                wake()
            }
        }
    }

    /// The reason of an error without the service's URL, which the screen already shows.
    private static func short(_ error: RemoteError) -> String {
        switch error {
        case .unreachable(_, let reason), .notPawl(_, let reason), .usage(let reason), .local(let reason): reason
        case .unauthorized, .problem: error.message
        }
    }
}
