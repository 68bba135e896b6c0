internal import HTTPCore
internal import JSON
internal import System

/// A message between replicas, with several remote commands, or with the replies to them.
struct FleetLetter: Sendable {
    /// A remote command to the owner of a download.
    struct Ask: Sendable {
        /// The number of the remote command, unique for its sender.
        let number: UInt64
        let id: DownloadID
        let request: DownloadMachine.Command.Request
        /// The revision that the download must have; `nil` for any.
        let revision: UInt64?
    }

    /// The reply to a remote command.
    struct Answer: Sendable {
        let number: UInt64
        /// The result; `nil` if the recipient does not own the download.
        let result: Result<Download, DownloadError>?
    }

    var asks: [Ask] = []
    var answers: [Answer] = []
    /// The instance that has received the same remote commands before; `nil` if they are new. Any other instance
    /// ignores a repetition, even the next one on the same data directory. It cannot know whether they were carried
    /// out.
    var repeatedFor: Int64?

    var isEmpty: Bool { asks.isEmpty && answers.isEmpty }
}

// MARK: - JSON coding

extension FleetLetter {
    /// The message as a JSON object with arrays, which ``init(_:)`` decodes.
    var text: String {
        let value = JSONValue.object([
            JSONMember(name: "asks", value: .array(asks.map(Self.encode))),
            JSONMember(name: "answers", value: .array(answers.map(Self.encode))),
            JSONMember(name: "repeatedFor", value: repeatedFor.map(JSONValue.integer) ?? .null),
        ])
        return String(decoding: value.serialized(), as: UTF8.self)
    }

    /// Decodes the format of ``text``. Remote commands and replies that cannot be decoded are left out; the sender
    /// repeats its remote command.
    init(_ text: String) {
        guard let value = try? JSONValue(parsing: text.utf8) else { return }
        asks = (value["asks"]?.array ?? []).compactMap(Self.ask)
        answers = (value["answers"]?.array ?? []).compactMap(Self.answer)
        repeatedFor = value["repeatedFor"]?.integer
    }

    private static func encode(_ ask: Ask) -> JSONValue {
        var request: [JSONValue]
        switch ask.request {
        case .pause: request = [.string("pause")]
        case .resume: request = [.string("resume")]
        case .cancel: request = [.string("cancel")]
        case .retry: request = [.string("retry")]
        case .change(let change): request = [.string("change"), encode(change)]
        case .remove(let deletesFile): request = [.string("remove"), .bool(deletesFile)]
        case .noteFile(let identity): request = [.string("file"), identity.map { .string($0.description) } ?? .null]
        }
        request.insert(contentsOf: [.integer(Int64(bitPattern: ask.number)), .string(ask.id.description)], at: 0)
        request.insert(ask.revision.map { .integer(Int64(bitPattern: $0)) } ?? .null, at: 2)
        return .array(request)
    }

    private static func ask(_ value: JSONValue) -> Ask? {
        guard let parts = value.array, parts.count >= 4, let number = parts[0].integer,
            let id = parts[1].string.flatMap(DownloadID.init), let name = parts[3].string
        else { return nil }
        let last = parts.count > 4 ? parts[4] : .null
        let request: DownloadMachine.Command.Request
        switch name {
        case "pause": request = .pause
        case "resume": request = .resume
        case "cancel": request = .cancel
        case "retry": request = .retry
        case "change": request = .change(change(last))
        case "remove": request = .remove(deletingFile: last.bool ?? false)
        case "file": request = .noteFile(last.string.flatMap { FileIdentity($0) })
        default: return nil
        }
        return Ask(
            number: UInt64(bitPattern: number), id: id, request: request,
            revision: parts[2].integer.map { UInt64(bitPattern: $0) })
    }

    private static func encode(_ change: DownloadChange) -> JSONValue {
        var members: [JSONMember] = []
        func put(_ name: String, _ value: JSONValue?) {
            if let value { members.append(JSONMember(name: name, value: value)) }
        }
        func strings(_ values: [String]?) -> JSONValue? { values.map { .array($0.map(JSONValue.string)) } }
        put("priority", change.priority.map { .integer(Int64($0)) })
        put("labels", strings(change.labels))
        put("checksum", change.checksum.map { .string($0.description) })
        put("addedLabel", change.addedLabel.map(JSONValue.string))
        put("removedLabel", change.removedLabel.map(JSONValue.string))
        put("speedLimit", change.speedLimit.map(JSONValue.integer))
        put("url", change.url.map { .string($0.string) })
        put("authorization", change.authorization.map(JSONValue.string))
        put("filename", change.filename.map(JSONValue.string))
        put("folder", change.folder.map(JSONValue.string))
        put("mirrors", strings(change.mirrors?.map(\.string)))
        put("segments", change.segments.map { .integer(Int64($0)) })
        switch change.move {
        case nil: break
        case .start(let places): put("fromStart", .integer(Int64(places)))
        case .current(let places): put("fromCurrent", .integer(Int64(places)))
        case .end(let places): put("fromEnd", .integer(Int64(places)))
        }
        return .object(members)
    }

    private static func change(_ value: JSONValue) -> DownloadChange {
        var change = DownloadChange()
        func number(_ name: String) -> Int? { value[name]?.integer.map { Int(clamping: $0) } }
        change.priority = number("priority")
        change.labels = value["labels"]?.array?.compactMap(\.string)
        change.checksum = value["checksum"]?.string.flatMap { try? Checksum(parsing: $0) }
        change.addedLabel = value["addedLabel"]?.string
        change.removedLabel = value["removedLabel"]?.string
        change.speedLimit = value["speedLimit"]?.integer
        change.url = value["url"]?.string.flatMap { HTTPURL($0) }
        change.authorization = value["authorization"]?.string
        change.filename = value["filename"]?.string
        change.folder = value["folder"]?.string
        change.mirrors = value["mirrors"]?.array?.compactMap { $0.string.flatMap { HTTPURL($0) } }
        change.segments = number("segments")
        change.move =
            number("fromStart").map(QueueMove.start) ?? number("fromCurrent").map(QueueMove.current)
            ?? number("fromEnd").map(QueueMove.end)
        return change
    }

    private static func encode(_ answer: Answer) -> JSONValue {
        var parts: [JSONValue] = [.integer(Int64(bitPattern: answer.number))]
        switch answer.result {
        case nil: parts.append(.string("not-mine"))
        case .success(let download)?: parts += [.string("done"), .string(FleetChange.encode(download))]
        case .failure(let error)?: parts += encode(error).map(JSONValue.string)
        }
        return .array(parts)
    }

    private static func answer(_ value: JSONValue) -> Answer? {
        guard let parts = value.array, let number = parts.first?.integer.map({ UInt64(bitPattern: $0) }) else { return nil }
        let texts = parts.dropFirst().compactMap(\.string)
        switch texts.first {
        case "not-mine": return Answer(number: number, result: nil)
        case "done":
            guard texts.count == 2, let download = try? FleetChange.decode(texts[1]) else { return nil }
            return Answer(number: number, result: .success(download))
        default: return error(texts).map { Answer(number: number, result: .failure($0)) }
        }
    }

    private static func encode(_ error: DownloadError) -> [String] {
        switch error {
        case .notFound: ["not-found"]
        case .illegalTransition(let state, let command): ["illegal-transition", state.rawValue, command]
        case .duplicate(let id): ["duplicate", id.description]
        case .gidInUse(let gid): ["gid-in-use", gid.description]
        case .destinationForbidden(let reason): ["destination-forbidden", reason]
        case .invalid(let reason): ["invalid", reason]
        case .insufficientStorage(let reason): ["insufficient-storage", reason]
        case .notComplete(let state): ["not-complete", state.rawValue]
        case .preconditionFailed: ["precondition-failed"]
        case .keyMismatch: ["key-mismatch"]
        case .overloaded, .shuttingDown: ["overloaded"]
        case .directoryAway: ["directory-away"]
        case .unconfirmed: ["unconfirmed"]
        case .storeFailed(let reason): ["store-failed", reason]
        }
    }

    private static func error(_ texts: [String]) -> DownloadError? {
        let detail = texts.count > 1 ? texts[1] : ""
        switch texts.first {
        case "not-found": return .notFound
        case "illegal-transition":
            return DownloadState(rawValue: detail).map { .illegalTransition(from: $0, command: texts.last ?? "") }
        case "duplicate": return DownloadID(detail).map { .duplicate($0) }
        case "gid-in-use": return DownloadGID(detail).map { .gidInUse($0) }
        case "destination-forbidden": return .destinationForbidden(detail)
        case "invalid": return .invalid(detail)
        case "insufficient-storage": return .insufficientStorage(detail)
        case "not-complete": return DownloadState(rawValue: detail).map { .notComplete($0) }
        case "precondition-failed": return .preconditionFailed
        case "key-mismatch": return .keyMismatch
        case "overloaded": return .overloaded
        case "directory-away": return .directoryAway
        case "unconfirmed": return .unconfirmed
        case "store-failed": return .storeFailed(detail)
        default: return nil
        }
    }
}
