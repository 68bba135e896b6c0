import HTTPCore
import System
import Testing

@testable import Downloads

@Suite("Letters between replicas", .timeLimit(.minutes(3)))
struct FleetLetterTests {
    private static let id = DownloadID(value: 7)

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
            $0.authorization = "Bearer s3cret"
            $0.filename = "ü.bin"
            $0.folder = "a/b"
            $0.mirrors = [HTTPURL("https://mirror.example/1")].compactMap(\.self)
            $0.segments = 3
            $0.move = .start(4)
        },
        changed { $0.move = .current(-2) }, changed { $0.move = .end(0) },
        changed {
            $0.labels = []
            $0.mirrors = []
        },
    ]

    @Test("a command arrives as it was sent", arguments: requests.indices)
    func command(_ place: Int) throws {
        let request = Self.requests[place]
        for revision in [nil, UInt64(0), .max] {
            let sent = FleetLetter.Ask(number: .max, id: Self.id, request: request, revision: revision)
            let letter = FleetLetter(FleetLetter(asks: [sent]).text)
            let ask = try #require(letter.asks.first)
            #expect(letter.asks.count == 1 && letter.answers.isEmpty)
            #expect(ask.number == .max && ask.id == Self.id && ask.revision == revision)
            #expect("\(ask.request)" == "\(request)")
        }
    }

    private static let errors: [DownloadError] = [
        .notFound, .illegalTransition(from: .paused, command: "retry"), .duplicate(id), .gidInUse(DownloadGID(9)),
        .destinationForbidden("why \"so\""), .invalid("ü"), .insufficientStorage(""), .notComplete(.downloading),
        .preconditionFailed, .keyMismatch, .overloaded, .unconfirmed, .storeFailed("x"),
    ]

    @Test("an error arrives as it was sent", arguments: errors)
    func error(_ error: DownloadError) throws {
        let letter = FleetLetter(FleetLetter(answers: [FleetLetter.Answer(number: 3, result: .failure(error))]).text)
        guard case .failure(let received)? = try #require(letter.answers.first).result else {
            Issue.record("\(letter.answers)")
            return
        }
        #expect(received == error)
        #expect(letter.answers.first?.number == 3)
    }

    @Test("a service that stops is one that another can be asked instead of")
    func stopping() throws {
        let letter = FleetLetter(FleetLetter(answers: [FleetLetter.Answer(number: 3, result: .failure(.shuttingDown))]).text)
        guard case .failure(.overloaded)? = letter.answers.first?.result else {
            Issue.record("\(letter.answers)")
            return
        }
    }

    @Test("a download arrives as it was sent, and so does that somebody has none")
    func downloads() throws {
        let letter = FleetLetter(answers: [
            FleetLetter.Answer(number: 1, result: .success(fullRecord().download)), FleetLetter.Answer(number: 2, result: nil),
        ])
        let answers = FleetLetter(letter.text).answers
        #expect(answers.count == 2)
        guard case .success(let download)? = answers.first?.result else {
            Issue.record("\(answers)")
            return
        }
        #expect(portrait(DownloadRecord(download)) == portrait(DownloadRecord(fullRecord().download)))
        #expect(answers.last?.number == 2 && answers.last?.result == nil)
    }

    @Test(
        "what cannot be read is left out",
        arguments: [
            "", "x", "[]", "{}", #"{"asks":1}"#, #"{"asks":[[]]}"#, #"{"asks":[[1,"x",null,"pause"]]}"#,
            #"{"asks":[[1,"00000000000000000000000007",null,"explode"]]}"#, #"{"answers":[[1,"done","{}"]]}"#,
            #"{"answers":[[1]]}"#, #"{"answers":[["x","not-mine"]]}"#,
        ])
    func unreadable(_ text: String) {
        #expect(FleetLetter(text).isEmpty)
    }
}
