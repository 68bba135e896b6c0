package import DownloadCore
internal import HTTPCore
internal import JSON
internal import System

/// A message between replicas, with several remote commands, or with the replies to them.
package struct RemoteMessage: Sendable {
    /// A remote command to the owner of a download.
    package struct Command: Sendable {
        /// The number of the remote command, unique for its sender.
        package let number: UInt64
        package let id: RecordID
        package let request: DownloadMachine.Command.Request
        /// The revision that the download must have; `nil` for any.
        package let revision: UInt64?

        package init(number: UInt64, id: RecordID, request: DownloadMachine.Command.Request, revision: UInt64?) {
            self.number = number
            self.id = id
            self.request = request
            self.revision = revision
        }
    }

    /// The reply to a remote command.
    package struct Reply: Sendable {
        package let number: UInt64
        /// The result; `nil` if the recipient does not own the download.
        package let result: Result<Download, DownloadError>?

        package init(number: UInt64, result: Result<Download, DownloadError>?) {
            self.number = number
            self.result = result
        }
    }

    package var commands: [Command] = []
    package var replies: [Reply] = []
    /// The instance that has received the same remote commands before; `nil` if they are new. Any other instance
    /// ignores a repetition, even the next one on the same data directory. It cannot know whether they were carried
    /// out.
    package var repeatedFor: Int64?

    package init(commands: [Command] = [], replies: [Reply] = [], repeatedFor: Int64? = nil) {
        self.commands = commands
        self.replies = replies
        self.repeatedFor = repeatedFor
    }
}

// MARK: - JSON coding

extension RemoteMessage {
    /// The message as a JSON object with arrays, which ``init(_:)`` decodes.
    package var text: String {
        let value = JSONValue.object([
            JSONMember(name: "commands", value: .array(commands.map(Self.encode))),
            JSONMember(name: "replies", value: .array(replies.map(Self.encode))),
            JSONMember(name: "repeatedFor", value: repeatedFor.map(JSONValue.integer) ?? .null),
        ])
        return String(decoding: value.serialized(), as: UTF8.self)
    }

    /// Decodes the format of ``text``. Remote commands and replies that cannot be decoded are left out; the sender
    /// repeats its remote command.
    package init(_ text: String) {
        guard let value = try? JSONValue(parsing: text.utf8) else { return }
        commands = (value["commands"]?.array ?? []).compactMap(Self.command)
        replies = (value["replies"]?.array ?? []).compactMap(Self.reply)
        repeatedFor = value["repeatedFor"]?.integer
    }

    private static func encode(_ command: Command) -> JSONValue {
        var request: [JSONValue]
        switch command.request {
        case .pause: request = [.string("pause")]
        case .resume: request = [.string("resume")]
        case .cancel: request = [.string("cancel")]
        case .retry: request = [.string("retry")]
        case .change(let change): request = [.string("change"), encode(change)]
        case .remove(let deletesFile): request = [.string("remove"), .bool(deletesFile)]
        case .noteFile(let identity): request = [.string("file"), identity.map { .string($0.description) } ?? .null]
        }
        request.insert(contentsOf: [.integer(Int64(bitPattern: command.number)), .string(command.id.description)], at: 0)
        request.insert(command.revision.map { .integer(Int64(bitPattern: $0)) } ?? .null, at: 2)
        return .array(request)
    }

    private static func command(_ value: JSONValue) -> Command? {
        guard let parts = value.array, parts.count >= 4, let number = parts[0].integer,
            let id = parts[1].string.flatMap(RecordID.init), let name = parts[3].string
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
        return Command(
            number: UInt64(bitPattern: number), id: id, request: request,
            revision: parts[2].integer.map { UInt64(bitPattern: $0) })
    }

    private static func encode(_ change: DownloadChange) -> JSONValue {
        let texts = [
            ("addedLabel", change.addedLabel), ("removedLabel", change.removedLabel), ("url", change.url?.string),
        ]
        let headers = change.headers.map { JSONMember(name: $0.name, value: .string($0.value)) }
        return .object(
            change.options.members + texts.compactMap { name, text in text.map { JSONMember(name: name, value: .string($0)) } }
                + (headers.isEmpty ? [] : [JSONMember(name: "headers", value: .object(headers))]))
    }

    private static func change(_ value: JSONValue) -> DownloadChange {
        var change = DownloadChange()
        change.options = DownloadOptions(members: value)
        change.addedLabel = value["addedLabel"]?.string
        change.removedLabel = value["removedLabel"]?.string
        change.url = value["url"]?.string.flatMap { HTTPURL($0) }
        change.options.headers = RequestHeaders(
            (value["headers"]?.members ?? []).compactMap { member in
                member.value.string.map { RequestHeader(name: member.name, value: $0) }
            })
        return change
    }

    private static func encode(_ reply: Reply) -> JSONValue {
        var parts: [JSONValue] = [.integer(Int64(bitPattern: reply.number))]
        switch reply.result {
        case nil: parts.append(.string("not-mine"))
        case .success(let download)?: parts += [.string("done"), .string(FleetChange.encode(download))]
        case .failure(let error)?: parts += CommandRefusal(error).texts.map(JSONValue.string)
        }
        return .array(parts)
    }

    private static func reply(_ value: JSONValue) -> Reply? {
        guard let parts = value.array, let number = parts.first?.integer.map({ UInt64(bitPattern: $0) }) else { return nil }
        let texts = parts.dropFirst().compactMap(\.string)
        switch texts.first {
        case "not-mine": return Reply(number: number, result: nil)
        case "done":
            guard texts.count == 2, let download = try? FleetChange.decode(texts[1]) else { return nil }
            return Reply(number: number, result: .success(download))
        default: return CommandRefusal(texts).map { Reply(number: number, result: .failure($0.error)) }
        }
    }
}
