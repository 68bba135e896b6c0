internal import CommandLine
internal import DownloadCore
internal import HTTPCore
internal import JSON
internal import Terminal

/// `pawl subscribe`, and the commands on subscriptions.
extension ClientCommand {
    /// Subscribes to a feed or a work, and waits for the first check. Writes a line about the subscription.
    func subscribe() async throws(RemoteError) -> ExitStatus {
        let source = try Self.source(invocation.operands.first.flatMap(DownloadOperand.init), SearchMemory.read(memoryPath))
        let (status, created) = try await create(source)
        let isNew = status == 201
        guard let first = RemoteSubscription(created) else { throw notSubscription }
        let (resource, hasEnded) = isNew ? try await firstCheck(of: first.id) : (created, true)
        guard let subscription = RemoteSubscription(resource) else { throw notSubscription }
        var facts = [subscription.choice]
        if subscription.everTaken > 0 { facts.append("\(subscription.everTaken) taken") }
        facts.append(hasEnded ? subscription.next(.now()) : "the first check is still running")
        if !isNew { facts.append("its settings are unchanged") }
        let text = TerminalText("\(subscription.name.string): \(facts.joined(separator: "; "))")
        write([line(subscription.id, isNew ? "subscribed" : "exists", isNew ? .good : .waiting, text)])
        Self.warn(resource, of: subscription.name.string)
        guard let failure = subscription.failure else { return .done }
        Self.writeError("the \(isNew ? "first" : "last") check failed: \(failure.string)")
        return .failed
    }

    /// Waits up to 30 seconds for the first check, which the service begins.
    private func firstCheck(of id: String) async throws(RemoteError) -> (resource: JSONValue, hasEnded: Bool) {
        let limit = ContinuousClock.now + .seconds(30)
        while true {
            let present = try await service.subscription(id)
            let hasEnded = present["checkedAt"]?.string != nil
            if hasEnded || ContinuousClock.now >= limit { return (present, hasEnded) }
            do { try await Task.sleep(for: .milliseconds(100)) } catch { return (present, false) }
        }
    }

    /// Creates the subscription. A refusal has the words of the command line in place of the members of the request.
    private func create(_ source: JSONMember) async throws(RemoteError) -> (status: Int, body: JSONValue) {
        do throws(RemoteError) {
            return try await service.exchange("POST", "subscriptions", body: Self.body(source, invocation.client))
        } catch {
            guard case .problem(let code, let detail) = error else { throw error }
            throw .problem(code, detail: Self.inWords(detail))
        }
    }

    /// The member of a request that names the source.
    /// - Throws: An error with one line of text if the operand is a result without parts.
    static func source(_ operand: DownloadOperand?, _ memory: SearchMemory) throws(RemoteError) -> JSONMember {
        let id: String
        switch operand {
        case .url(let url): return JSONMember(name: "feedUrl", value: .string(url.string))
        case .item(let given): id = given
        case .results(let numbers):
            let result = try SearchMemory.results(numbers, of: memory.search).first
            guard let result, result.hasParts else {
                throw .usage("'\(result?.name ?? "")' has no parts, so that there is nothing to follow")
            }
            id = result.id
        case nil: throw .usage("pawl subscribe takes a URL, the number of a result, or an id")
        }
        // As an address, a feed may have a user and password.
        if id.hasPrefix("feed:") { return JSONMember(name: "feedUrl", value: .string(id)) }
        return JSONMember(name: "source", value: .object([JSONMember(name: "partsOf", value: .string(id))]))
    }

    /// The members of a request. Options that were not given are left to the service.
    static func body(_ source: JSONMember, _ options: ClientOptions) -> JSONValue {
        var members = [source]
        func add(_ name: String, _ value: JSONValue?) {
            if let value { members.append(JSONMember(name: name, value: value)) }
        }
        func add(_ name: String, _ texts: [String]) {
            add(name, texts.isEmpty ? nil : .array(texts.map { .string($0) }))
        }
        switch options.take {
        case .new: add("take", .string("new"))
        case .all: add("take", .string("all"))
        case .latest(let count): add("take", .object([JSONMember(name: "latest", value: .integer(Int64(count)))]))
        case nil: break
        }
        add("keep", options.keep.map { .integer(Int64($0)) })
        add("every", options.every.map { .integer($0.components.seconds) })
        add("include", options.include)
        add("exclude", options.exclude)
        add("labels", options.labels)
        add("folder", options.folder.map { .string($0) })
        return .object(members)
    }

    /// The detail of a refusal, with the words of the command line for the members of the request.
    static func inWords(_ detail: String) -> String {
        [
            ("'source.partsOf'", "the ID"), ("'trackId'", "the ID"), ("'feedUrl'", "the URL"), ("'url'", "the URL"),
            ("'labels", "'--label"),
        ].reduce(detail) { text, pair in
            text.replacing(pair.0, with: pair.1)
        }
    }

    // MARK: - Present subscriptions

    /// Lists subscriptions.
    func subscriptions() async throws(RemoteError) -> ExitStatus {
        let resources = try await service.subscriptions()
        if invocation.client.writesIDsOnly {
            write(resources.compactMap { $0["id"]?.string }.map { TerminalLine(TerminalText($0)) })
        } else if invocation.writesJSON {
            for resource in resources { write(resource) }
        } else if resources.isEmpty {
            Self.writeError("no subscriptions")
        } else {
            write(Self.table(of: resources.compactMap(RemoteSubscription.init), isShort: isTerminal, .now()))
        }
        return .done
    }

    /// - Parameter isShort: Whether ids are shown by their shortest unique end.
    static func table(of subscriptions: [RemoteSubscription], isShort: Bool, _ now: Timestamp) -> TextTable {
        var table = TextTable([
            TextTable.Column("ID"), TextTable.Column("STATE"), TextTable.Column("TAKEN", isRight: true),
            TextTable.Column("NEW", isRight: true, dispensability: 3),
            TextTable.Column("CHECKED", isRight: true, dispensability: 2),
            TextTable.Column("NEXT", isRight: true, dispensability: 1), TextTable.Column("NAME", least: 10),
        ])
        let length = isShort ? IDMatch.distinctLength(of: subscriptions.map(\.id)) : IDMatch.length
        for subscription in subscriptions {
            let checked = subscription.checkedAt.map { RemoteSubscription.span(from: $0, to: now) + " ago" }
            let next = subscription.nextCheckAt.map { "in " + RemoteSubscription.span(from: now, to: $0) }
            let failure = subscription.failure.map { ": " + $0.string } ?? ""
            table.append([
                TextTable.Cell(TerminalText(subscription.id.suffix(length)), .dim),
                TextTable.Cell(TerminalText(subscription.state), subscription.style),
                TextTable.Cell(TerminalText(String(subscription.taken))),
                TextTable.Cell(TerminalText(String(subscription.new))), TextTable.Cell(TerminalText(checked ?? "never")),
                TextTable.Cell(TerminalText(next ?? "")), TextTable.Cell(TerminalText(subscription.name.string + failure)),
            ])
        }
        return table
    }

    /// Checks or ends the named subscriptions. If one fails, the others are still done.
    func performOnSubscriptions() async throws(RemoteError) -> ExitStatus {
        var status = ExitStatus.done
        let all = try await service.subscriptions().compactMap(RemoteSubscription.init)
        for operand in invocation.operands {
            do throws(RemoteError) {
                let id = try IDMatch(operand, among: all.map(\.id)).id(of: "subscription")
                guard let subscription = all.first(where: { $0.id == id }) else { continue }
                if invocation.command == .refresh {
                    try await refresh(subscription)
                } else {
                    try await service.unsubscribe(id)
                    let text = TerminalText("\(subscription.name.string); its downloads stay")
                    write([line(id, "unsubscribed", .good, text)])
                }
            } catch {
                // Without a service, the other requests would fail as well.
                guard error.status == .failed else { throw error }
                Self.writeError(error.message)
                status = .failed
            }
        }
        return status
    }

    /// Checks a subscription, and writes what the check has found.
    /// - Parameter before: The subscription before the check.
    private func refresh(_ before: RemoteSubscription) async throws(RemoteError) {
        let (resource, hasEnded) = try await service.refresh(before.id)
        guard let after = RemoteSubscription(resource) else { throw notSubscription }
        guard hasEnded else {
            return write(after, "checking", .waiting, "the check is still running")
        }
        if let failure = after.failure {
            let next = after.nextCheckAt == nil ? "" : " (\(after.next(.now())))"
            throw .local("\(after.name.string): \(failure.string)\(next)")
        }
        Self.warn(resource, of: after.name.string)
        write(after, "checked", .good, "\(Self.findings(before, after)); \(after.next(.now()))")
    }

    /// The result of a check in words.
    static func findings(_ before: RemoteSubscription, _ after: RemoteSubscription) -> String {
        func items(_ count: Int64) -> String { "\(count) new \(count == 1 ? "item" : "items")" }
        let (taken, new) = (after.everTaken &- before.everTaken, after.new &- before.new)
        if taken > 0 { return "\(items(taken)) taken" }
        return new > 0 ? "\(items(new)), to be taken once it is resumed" : "nothing new"
    }

    private func write(_ subscription: RemoteSubscription, _ word: String, _ style: Style, _ text: String) {
        write([line(subscription.id, word, style, TerminalText("\(subscription.name.string): \(text)"))])
    }

    private var notSubscription: RemoteError {
        .notPawl(server: service.name, reason: "its response is not a subscription")
    }
}
