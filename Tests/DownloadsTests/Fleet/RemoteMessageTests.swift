import HTTPCore
import System
import Testing

@testable import DownloadCore
@testable import DownloadStore

@Suite("Messages between replicas", .timeLimit(.minutes(3)))
struct RemoteMessageTests {
    private static let id = RecordID(value: 7)

    private static func changed(_ body: (inout DownloadChange) -> Void) -> DownloadMachine.Command.Request {
        var change = DownloadChange()
        body(&change)
        return .change(change)
    }

    private static let requests: [DownloadMachine.Command.Request] = [
        .pause, .resume, .cancel, .retry, .remove(deletingFile: true), .remove(deletingFile: false), .noteFile(nil),
        .noteFile(FileIdentity(device: 1, inode: .max, size: 5, modified: -4)),
        changed { _ in },
        changed {
            $0.priority = -3
            $0.labels = ["a", "b \"c\"\n", "\u{1F3B5}"]
            $0.checksum = Checksum(.sha256, bytes: Array(0..<32))
            $0.addedLabel = "added"
            $0.removedLabel = "removed"
            $0.speedLimit = 0
            $0.url = HTTPURL("https://example.com/a?b=c")
            $0.headers = .of(["Authorization": "Bearer s3cret", "Cookie": "a=1"])
            $0.filename = "ü.bin"
            $0.folder = "a/b"
            $0.mirrors = [HTTPURL("https://mirror.example/1")].compactMap(\.self)
            $0.segments = 3
            $0.timeouts = Timeouts(connect: 0, response: 7)
            $0.retry = RetryChoice(attempts: 0)
            $0.move = .start(4)
        },
        changed { $0.move = .current(-2) }, changed { $0.move = .end(0) },
        changed {
            $0.labels = []
            $0.mirrors = []
            $0.timeouts = Timeouts()
            $0.retry = RetryChoice()
        },
    ]

    @Test("A command survives a round trip", arguments: requests.indices)
    func command(_ offset: Int) throws {
        let request = Self.requests[offset]
        for revision in [nil, UInt64(0), .max] {
            let sent = RemoteMessage.Command(number: .max, id: Self.id, request: request, revision: revision)
            let message = RemoteMessage(RemoteMessage(commands: [sent]).text)
            let command = try #require(message.commands.first)
            #expect(message.commands.count == 1 && message.replies.isEmpty)
            #expect(command.number == .max && command.id == Self.id && command.revision == revision)
            #expect("\(command.request)" == "\(request)")
        }
    }

    private static let errors: [DownloadError] = [
        .notFound, .illegalTransition(from: .paused, command: "retry"), .duplicate(id), .gidInUse(DownloadGID(9)),
        .destinationForbidden("why \"so\""), .invalid("ü"), .insufficientStorage(""), .notComplete(.downloading),
        .preconditionFailed, .keyMismatch, .overloaded, .unconfirmed, .storeFailed("x"), .storeAway("x"),
    ]

    @Test("An error survives a round trip", arguments: errors)
    func error(_ error: DownloadError) throws {
        let message = RemoteMessage(RemoteMessage(replies: [RemoteMessage.Reply(number: 3, result: .failure(error))]).text)
        guard case .failure(let received)? = try #require(message.replies.first).result else {
            Issue.record("\(message.replies)")
            return
        }
        #expect(received == error)
        #expect(message.replies.first?.number == 3)
    }

    @Test("The refusal of a stopping replica arrives as an overloaded replica's")
    func stopping() throws {
        let message = RemoteMessage(
            RemoteMessage(replies: [RemoteMessage.Reply(number: 3, result: .failure(.shuttingDown))]).text)
        guard case .failure(.overloaded)? = message.replies.first?.result else {
            Issue.record("\(message.replies)")
            return
        }
    }

    @Test("A download arrives as it was sent, and so does a missing one")
    func downloads() throws {
        let message = RemoteMessage(replies: [
            RemoteMessage.Reply(number: 1, result: .success(fullRecord().download)), RemoteMessage.Reply(number: 2, result: nil),
        ])
        let replies = RemoteMessage(message.text).replies
        #expect(replies.count == 2)
        guard case .success(let download)? = replies.first?.result else {
            Issue.record("\(replies)")
            return
        }
        #expect(portrait(DownloadRecord(download)) == portrait(DownloadRecord(fullRecord().download)))
        #expect(replies.last?.number == 2 && replies.last?.result == nil)
    }

    @Test(
        "Commands and replies that cannot be decoded are left out",
        arguments: [
            "", "x", "[]", "{}", #"{"commands":1}"#, #"{"commands":[[]]}"#, #"{"commands":[[1,"x",null,"pause"]]}"#,
            #"{"commands":[[1,"00000000000000000000000007",null,"explode"]]}"#, #"{"replies":[[1,"done","{}"]]}"#,
            #"{"replies":[[1]]}"#, #"{"replies":[["x","not-mine"]]}"#,
        ])
    func unreadable(_ text: String) {
        let message = RemoteMessage(text)
        #expect(message.commands.isEmpty && message.replies.isEmpty)
    }
}
