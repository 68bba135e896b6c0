internal import DownloadCore
internal import DownloadIndex
internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import System

/// Carries out calls: reads from the index, and changes through the download service, answered once they are durable.
final class RPCExecutor: Sendable {
    let downloads: DownloadService
    let index: SnapshotIndex
    let files: FilesDirectory
    private let access: any Aria2Access
    /// The name of this instance: 40 hexadecimal digits.
    private let session: String

    init(_ downloads: DownloadService, _ files: FilesDirectory, _ access: any Aria2Access) {
        self.downloads = downloads
        index = downloads.index
        self.files = files
        self.access = access
        session = Hexadecimal.encode((0..<20).map { _ in UInt8.random(in: 0...255) })
    }

    // MARK: - Reading

    /// Answers a call of a quick method (``RPCMethod/isQuick``) from memory; `nil` if the answer has to wait.
    func answer(_ call: AuthorizedCall) throws(RPCError) -> Answer? {
        let parameters = call.parameters
        switch call.method {
        case .tellStatus:
            let gid = try parameters.string(0)
            let keys = try parameters.keys(1)
            let download = try download(gid, for: call.caller)
            // The index has no mirrors. A completed download has none left.
            return keys.contains(.files) && download.state != .completed ? nil : .status(download, keys, nil)
        case .getGlobalStat: return .statistics(index.statistics())
        case .getVersion: return .version
        case .getSessionInfo: return .session(session)
        case .getPeers:
            let download = try download(try parameters.string(0), for: call.caller)
            guard download.state.isLive else { throw RPCError("No peer data is available for GID#\(download.gid)") }
            return .noPeers
        case .listMethods: return .names(RPCMethod.allCases.filter(\.isServed).map(\.rawValue))
        case .listNotifications: return .names(RPCNotification.allCases.map(\.rawValue))
        default: return nil
        }
    }

    /// The download with a gid, which may be abbreviated.
    private func download(_ text: String, for caller: Aria2Caller) throws(RPCError) -> Download {
        let prefix = try GIDPrefix(parsing: text)
        switch index.find(gid: prefix.value, digits: prefix.digits) {
        case .found(let id):
            guard let download = index.download(id) else { break }
            return caller.scope == .full ? download : download.withoutSecrets
        case .notFound: break
        case .ambiguous: throw RPCError("GID \(text) is not unique")
        }
        throw RPCError.isUnknown(text)
    }

    private func list(_ downloads: [Download], _ keys: StatusKeys, for caller: Aria2Caller) -> Answer {
        .statuses(caller.scope == .full ? downloads : downloads.map(\.withoutSecrets), keys)
    }

    private func waiting(_ parameters: RPCParameters, for caller: Aria2Caller) throws(RPCError) -> Answer {
        let (offset, count) = (try parameters.integer(0), try parameters.integer(1, atLeast: 0))
        let keys = try parameters.keys(2)
        let window = ListWindow(offset: offset, count: min(count, DownloadView.maximumLive), of: index.queueCount)
        let found = index.queue(offset: window.range.lowerBound, limit: window.range.count)
        return list(window.isBackwards ? found.reversed() : found, keys, for: caller)
    }

    private func stopped(_ parameters: RPCParameters, for caller: Aria2Caller) throws(RPCError) -> Answer {
        let (offset, count) = (try parameters.integer(0), try parameters.integer(1, atLeast: 0))
        let keys = try parameters.keys(2)
        let all = index.ended(limit: DownloadView.maximumStopped)
        let window = ListWindow(offset: offset, count: count, of: all.count)
        let found = Array(all[window.range])
        return list(window.isBackwards ? found.reversed() : found, keys, for: caller)
    }

    private func details(_ gid: String, for caller: Aria2Caller) async throws(RPCError) -> DownloadDetails {
        let id = try download(gid, for: caller).id
        let details = try await RPCError.rethrowing(gid: gid, await downloads.details(of: id))
        return caller.scope == .full ? details : details.withoutSecrets
    }

    // MARK: - All calls

    /// Carries out one call.
    private func perform(_ call: AuthorizedCall, from peer: SocketAddress) async throws(RPCError) -> Answer {
        let answer: Answer
        do throws(RPCError) {
            answer = try await carryOut(call)
        } catch  where error.meansUnknown && downloads.isShared {
            // Another replica may have just added the download.
            try await RPCError.rethrowing(await downloads.catchUp())
            answer = try await carryOut(call)
        }
        if let change = call.method.loggedChange { access.log(change, by: call.caller, from: peer) }
        return answer
    }

    private func carryOut(_ call: AuthorizedCall) async throws(RPCError) -> Answer {
        let (parameters, caller) = (call.parameters, call.caller)
        switch call.method {
        case .getGlobalStat, .getVersion, .getSessionInfo, .getPeers, .listMethods, .listNotifications, .multicall:
            guard let answer = try answer(call) else { throw RPCError("\(call.method.rawValue) cannot be answered at once.") }
            return answer
        case .tellStatus:
            if let answer = try answer(call) { return answer }
            let details = try await details(try parameters.string(0), for: caller)
            return .status(details.download, try parameters.keys(1), details)
        case .addUri: return try await add([call])[0].get()
        case .tellActive:
            let keys = try parameters.keys(0)
            return list(Array(index.active().prefix(DownloadView.maximumLive)), keys, for: caller)
        case .tellWaiting: return try waiting(parameters, for: caller)
        case .tellStopped: return try stopped(parameters, for: caller)
        case .getFiles:
            let details = try await details(try parameters.string(0), for: caller)
            return .files(details)
        case .getUris:
            let details = try await details(try parameters.string(0), for: caller)
            guard details.download.state.isLive else {
                throw RPCError("No URI data is available for GID#\(details.download.gid)")
            }
            return .uris(details)
        case .getServers:
            let details = try await details(try parameters.string(0), for: caller)
            guard Aria2Status(details.download.state) == .active else {
                throw RPCError("No active download for GID#\(details.download.gid)")
            }
            return .servers(details.connections)
        case .getOption:
            let details = try await details(try parameters.string(0), for: caller)
            let usual = await downloads.settings.segments
            return .options(
                ReportedOptions.download(
                    details, in: files, usualSegments: usual, usualRemoteTime: downloads.givesRemoteTime,
                    hidesSecrets: caller.scope != .full))
        case .getGlobalOption:
            let settings = await downloads.settings
            return .options(ReportedOptions.global(settings, remoteTime: downloads.givesRemoteTime, in: files))
        case .pause, .forcePause:
            return try await command(.pause, call, isTaken: { $0 != .paused && $0.isLive }) { "GID#\($0) cannot be paused now" }
        case .unpause:
            return try await command(.resume, call, isTaken: { $0 == .paused }) { "GID#\($0) cannot be unpaused now" }
        case .remove, .forceRemove:
            return try await command(.cancel, call, isTaken: \.isLive) { "Active Download not found for GID#\($0)" }
        case .pauseAll, .forcePauseAll: return try await commandAll(.pause, [.queued, .downloading, .retrying])
        case .unpauseAll: return try await commandAll(.resume, [.paused])
        case .removeDownloadResult: return try await removeResult(parameters, for: caller)
        case .purgeDownloadResult:
            let ended = ListQuery(states: [.completed, .failed, .cancelled])
            _ = try await RPCError.rethrowing(await downloads.removeAll(ended, deletingFiles: false))
            return .ok
        case .changePosition: return try await changePosition(parameters, for: caller)
        case .changeUri: return try await changeURIs(parameters, for: caller)
        case .changeOption: return try await changeOptions(parameters, for: caller)
        case .changeGlobalOption:
            let options = try GlobalOptions(try parameters.members(0), in: files)
            guard !options.values.isEmpty else { return .ok }
            _ = try await RPCError.rethrowing(await downloads.change(options.values))
            return .ok
        case .saveSession: return .ok
        case .addTorrent:
            _ = try parameters.string(0)
            throw RPCError("BitTorrent is not supported.")
        case .addMetalink:
            _ = try parameters.string(0)
            throw RPCError("Metalink is not supported.")
        case .shutdown, .forceShutdown:
            throw RPCError("\(call.method.rawValue) is refused: a client cannot stop the service.")
        }
    }

    private func command(
        _ command: DownloadCommand, _ call: AuthorizedCall, isTaken: (DownloadState) -> Bool, refusal: (DownloadGID) -> String
    ) async throws(RPCError) -> Answer {
        let gid = try call.parameters.string(0)
        let download = try download(gid, for: call.caller)
        let refusal = RPCError(refusal(download.gid))
        guard isTaken(download.state) else { throw refusal }
        _ = try await RPCError.rethrowing(gid: gid, refusal: refusal, await downloads.perform(command, on: download.id))
        return .gid(download.gid)
    }

    private func commandAll(_ command: DownloadCommand, _ states: Set<DownloadState>) async throws(RPCError) -> Answer {
        _ = try await RPCError.rethrowing(await downloads.performOnAll(command, states: states))
        return .ok
    }

    private func removeResult(_ parameters: RPCParameters, for caller: Aria2Caller) async throws(RPCError) -> Answer {
        let gid = try parameters.string(0)
        let download = try download(gid, for: caller)
        let refusal = RPCError("Could not remove download result of GID#\(download.gid)")
        guard !download.state.isLive else { throw refusal }
        try await RPCError.rethrowing(
            gid: gid, refusal: refusal, await downloads.remove(download.id, deletingFile: false) { !$0.state.isLive })
        return .ok
    }

    private func changePosition(_ parameters: RPCParameters, for caller: Aria2Caller) async throws(RPCError) -> Answer {
        let (gid, number, how) = (try parameters.string(0), try parameters.integer(1), try parameters.string(2))
        let download = try download(gid, for: caller)
        let move: QueueMove
        switch how {
        case "POS_SET": move = .start(number)
        case "POS_CUR": move = .current(number)
        case "POS_END": move = .end(number)
        default: throw RPCError("Illegal argument.")
        }
        let refusal = RPCError("GID#\(download.gid) not found in the waiting queue.")
        return .number(
            try await RPCError.rethrowing(gid: gid, refusal: refusal, await downloads.move(download.id, to: move)))
    }

    private func changeOptions(_ parameters: RPCParameters, for caller: Aria2Caller) async throws(RPCError) -> Answer {
        let gid = try parameters.string(0)
        let members = try parameters.members(1)
        let download = try download(gid, for: caller)
        let refusal = RPCError("Cannot change option for GID#\(download.gid)")
        guard download.state.isLive else { throw refusal }
        let options = try RPCOptions(members, in: files)
        var change = options.change(of: download, usualSegments: await downloads.settings.segments)
        // An unchanged folder or name must not interrupt a transfer.
        if change.folder == download.folder { change.folder = nil }
        if change.filename == download.filename { change.filename = nil }
        guard change.options != DownloadOptions() else { return .ok }
        _ = try await RPCError.rethrowing(
            gid: gid, refusal: refusal, await downloads.change(download.id, change) { $0.state.isLive })
        return .ok
    }

    private func changeURIs(_ parameters: RPCParameters, for caller: Aria2Caller) async throws(RPCError) -> Answer {
        let gid = try parameters.string(0)
        let file = try parameters.integer(1, atLeast: 1)
        let (deleted, added) = (try parameters.strings(2), try parameters.strings(3))
        let position = try parameters.position(4)
        let details = try await details(gid, for: caller)
        let download = details.download
        let refusal = RPCError("Cannot remove URIs from GID#\(download.gid)")
        guard download.state.isLive else { throw refusal }
        guard file == 1 else { throw RPCError("fileIndex is out of range") }
        let known = details.sources.compactMap { HTTPURL($0.url) }
        let list = URIList(known, deleting: deleted, adding: added, at: position)
        guard let first = list.urls.first else { throw RPCError("A download needs at least one URI.") }
        guard list.urls.count <= RPCOptions.maximumURIs else {
            throw RPCError("A download has at most \(RPCOptions.maximumURIs) URIs.")
        }
        let result = Answer.numbers([list.deleted, list.added])
        guard list.deleted + list.added > 0 else { return result }
        var change = DownloadChange()
        if first != known.first {
            change.url = first.withoutUserInfo
            if let credentials = first.basicAuthorization { try? change.headers.authorize(credentials) }
        }
        change.mirrors = list.urls.dropFirst().map(\.withoutUserInfo)
        _ = try await RPCError.rethrowing(
            gid: gid, refusal: refusal, await downloads.change(download.id, change) { $0.state.isLive })
        return result
    }

    // MARK: - Several calls

    /// The number of listed downloads, about 35 MB, after which the following calls of a message fail.
    private static let maximumStatuses = 50_000
    /// The maximum number of commands of one message that run at once.
    private static let commandsAtOnce = 256

    /// The progress of a message's calls.
    private struct Course {
        /// The number of downloads listed so far.
        var statusCount = 0
        /// The first failure because the store did not answer in time. Later calls that change something are not tried:
        /// each would wait as long.
        var unanswered: RPCError?

        mutating func note(_ results: [Result<Answer, RPCError>]) {
            for case .failure(let error) in results where error.meansUnanswered && unanswered == nil { unanswered = error }
        }
    }

    /// Carries out the steps of a message in order. Consecutive additions, and commands to different downloads, are
    /// committed together.
    func results(of steps: [RPCStep], from peer: SocketAddress) async -> [Result<Answer, RPCError>] {
        var course = Course()
        return await results(of: steps, from: peer, &course)
    }

    private func results(
        of steps: [RPCStep], from peer: SocketAddress, _ course: inout Course
    ) async -> [Result<Answer, RPCError>] {
        var results: [Result<Answer, RPCError>] = []
        results.reserveCapacity(steps.count)
        while results.count < steps.count {
            switch steps[results.count] {
            case .failed(let error): results.append(.failure(error))
            case .multicall(let inner):
                results.append(.success(.results(await self.results(of: inner, from: peer, &course))))
            case .call(let call):
                if let error = course.unanswered, !call.method.onlyReads {
                    results.append(.failure(error))
                    continue
                }
                let together = Self.together(steps[results.count...])
                if call.method == .addUri {
                    let added = await add(together)
                    course.note(added)
                    results += added
                } else if together.count > 1 {
                    let performed = await performAtOnce(together, from: peer)
                    course.note(performed)
                    results += performed
                } else if course.statusCount > Self.maximumStatuses {
                    results.append(.failure(.tooLarge))
                } else {
                    let result = await result(of: call, from: peer)
                    course.note([result])
                    if case .success(.statuses(let downloads, _)) = result { course.statusCount += downloads.count }
                    results.append(result)
                }
            }
        }
        return results
    }

    /// The first calls of `steps`, as many as can be carried out together.
    private static func together(_ steps: ArraySlice<RPCStep>) -> [AuthorizedCall] {
        var calls: [AuthorizedCall] = []
        var gids: Set<String> = []
        for step in steps {
            guard case .call(let call) = step else { break }
            if let first = calls.first {
                let isSame = call.method == .addUri ? first.method == .addUri : call.method.isCommand && first.method.isCommand
                guard isSame else { break }
            }
            if call.method.isCommand {
                // Commands to the same download run one after the other.
                guard calls.count < commandsAtOnce, let gid = try? call.parameters.string(0),
                    gids.insert(gid.lowercased()).inserted
                else {
                    if calls.isEmpty { calls.append(call) }
                    break
                }
            }
            calls.append(call)
            if call.method != .addUri, !call.method.isCommand { break }
        }
        return calls
    }

    private func result(of call: AuthorizedCall, from peer: SocketAddress) async -> Result<Answer, RPCError> {
        do throws(RPCError) {
            return .success(try await perform(call, from: peer))
        } catch {
            return .failure(error)
        }
    }

    private func performAtOnce(_ calls: [AuthorizedCall], from peer: SocketAddress) async -> [Result<Answer, RPCError>] {
        await withTaskGroup(of: (Int, Result<Answer, RPCError>).self) { group in
            for (number, call) in calls.enumerated() {
                group.addTask { (number, await self.result(of: call, from: peer)) }
            }
            var results = [Result<Answer, RPCError>](repeating: .success(.ok), count: calls.count)
            for await (number, result) in group { results[number] = result }
            return results
        }
    }

    /// Adds downloads in one commit.
    private func add(_ calls: [AuthorizedCall]) async -> [Result<Answer, RPCError>] {
        let usual = await downloads.settings.segments
        let requested = calls.map { call -> Result<NewDownload, RPCError> in
            do throws(RPCError) {
                let addresses = try call.parameters.strings(0)
                let members = try call.parameters.optionalMembers(1) ?? []
                let position = try call.parameters.position(2)
                let options = try RPCOptions(members, in: files)
                return .success(try options.download(of: addresses, position: position, usualSegments: usual))
            } catch {
                return .failure(error)
            }
        }
        let accepted = requested.compactMap { try? $0.get() }
        var outcomes: [Addition.Outcome] = []
        var failure: RPCError?
        if !accepted.isEmpty {
            do throws(RPCError) {
                outcomes = try await RPCError.rethrowing(await downloads.add(accepted.map { .success($0) }, keepsOrder: false))
            } catch {
                failure = error
            }
        }
        var next = outcomes.makeIterator()
        return requested.map { requested in
            if case .failure(let error) = requested { return .failure(error) }
            if let failure { return .failure(failure) }
            switch next.next() {
            case .success(let addition)?: return .success(.gid(addition.download.gid))
            case .failure(let problem)?: return .failure(RPCError(problem.detail))
            case nil:
                return .failure(
                    RPCError(
                        "The outcome of the call is unknown. Look for the download, and add it again if it is missing.")
                )
            }
        }
    }
}

/// The URIs of a download after `changeUri`.
struct URIList: Sendable, Equatable {
    private(set) var urls: [HTTPURL]
    /// The number of URIs deleted; each entry of the request deletes one.
    private(set) var deleted = 0
    /// The number of URIs added; invalid URLs are not.
    private(set) var added = 0

    /// - Parameter position: The index at which to insert, after the deletions; `nil` for the end.
    init(_ urls: [HTTPURL], deleting texts: [String], adding more: [String], at position: Int?) {
        self.urls = urls
        for text in texts {
            guard let url = PastedURL.parse(text), let index = self.urls.firstIndex(of: url.withoutUserInfo) else { continue }
            self.urls.remove(at: index)
            deleted += 1
        }
        let new = more.compactMap(PastedURL.parse)
        added = new.count
        self.urls.insert(contentsOf: new, at: min(position ?? self.urls.count, self.urls.count))
    }
}
