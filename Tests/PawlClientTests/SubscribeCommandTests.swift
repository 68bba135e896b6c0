import CommandLine
import DownloadCore
import Downloads
import HTTPClient
import HTTPCore
import HTTPServer
import JSON
import PawlConfiguration
import PawlService
import System
import Terminal
import TestSupport
import Testing

@testable import PawlClient

@Suite("Commands on subscriptions", .timeLimit(.minutes(3)))
struct SubscribeCommandTests {
    private static func result(_ id: String, parts: Bool) -> SearchMemory.Result {
        SearchMemory.Result(id: id, name: "the \(id)", isDownloadable: !parts, hasParts: parts)
    }

    private static let search = SearchMemory.Listing(
        term: "bach", work: nil,
        results: [
            result("itunes:1", parts: true), result("itunes:2", parts: false), result("feed:https://a.example/", parts: true),
        ])

    @Test(
        "A URL or a feed's id is an address; other ids, and numbers of the search, are works",
        arguments: [
            ("https://me:secret@a.example/x", #"{"feedUrl":"https://me:secret@a.example/x"}"#),
            ("feed:https://a.example/x", #"{"feedUrl":"feed:https://a.example/x"}"#),
            ("archive:x", #"{"source":{"partsOf":"archive:x"}}"#), ("1", #"{"source":{"partsOf":"itunes:1"}}"#),
            ("3", #"{"feedUrl":"feed:https://a.example/"}"#),
        ])
    func sources(operand: String, body: String) throws {
        // Numbers belong to the search, as in pawl parts.
        let parts = SearchMemory.Listing(term: "itunes:1", work: "Work", results: [Self.result("itunes:9", parts: false)])
        let member = try ClientCommand.source(DownloadOperand(operand), SearchMemory(search: Self.search, parts: parts))
        let options = try CommandLineParser.parse(["subscribe", operand], environment: [:]).client
        #expect(String(decoding: ClientCommand.body(member, options).serialized(), as: UTF8.self) == body)
    }

    @Test("Refuses a result without parts, and an unknown number, before any request")
    func refusals() throws {
        for (operand, complaint) in [("2", "'the itunes:2' has no parts"), ("4", "there is no 4")] {
            do throws(RemoteError) {
                _ = try ClientCommand.source(DownloadOperand(operand), SearchMemory(search: Self.search))
                Issue.record("\(operand) is taken")
            } catch {
                #expect(error.message.contains(complaint), "\(error.message)")
                #expect(error.status == .usage)
            }
        }
    }

    @Test(
        "Sends given options only",
        arguments: [
            ([], "{}"), (["--take", "new"], #"{"take":"new"}"#), (["--take=all", "--keep", "3"], #"{"take":"all","keep":3}"#),
            (
                ["--take", "latest:5", "--every", "2h", "--include", "*a*", "--exclude", "b", "--exclude", "c", "-l", "x"],
                #"{"take":{"latest":5},"every":7200,"include":["*a*"],"exclude":["b","c"],"labels":["x"]}"#
            ),
            (["--folder", "shows/a"], #"{"folder":"shows/a"}"#),
        ])
    func bodies(flags: [String], body: String) throws {
        let options = try CommandLineParser.parse(["subscribe", "1"] + flags, environment: [:]).client
        let members = ClientCommand.body(JSONMember(name: "feedUrl", value: .null), options).members?.dropFirst() ?? []
        #expect(String(decoding: JSONValue.object(Array(members)).serialized(), as: UTF8.self) == body)
    }

    @Test("A refusal names the operand or option, not the member of the request")
    func words() {
        #expect(
            ClientCommand.inWords("'source.partsOf' is 'a:1'; it takes itunes:<id>") == "the ID is 'a:1'; it takes itunes:<id>")
        #expect(ClientCommand.inWords("'feedUrl' has 9000 characters") == "the URL has 9000 characters")
        #expect(ClientCommand.inWords("'labels' has 99 items") == "'--label' has 99 items")
    }

    private static func subscription(_ members: String) throws -> RemoteSubscription {
        let counts = #""items":{"new":0,"taken":3,"skipped":9,"expired":1}"#
        let text = #"{"id":"01A","name":"Show","state":"active",\#(counts),\#(members)}"#
        return try #require(RemoteSubscription(try JSONValue(parsing: Array(text.utf8))))
    }

    @Test("The list has state, counts, times and failures")
    func table() throws {
        let now = try #require(Timestamp(parsing: "2026-11-23T14:00:00.000Z"))
        let times = #""checkedAt":"2026-11-23T13:57:00.000Z","nextCheckAt":"2026-11-23T15:05:00.000Z""#
        let table = ClientCommand.table(
            of: [
                try Self.subscription(#"\#(times),"error":null"#),
                try Self.subscription(#""checkedAt":null,"nextCheckAt":null,"error":{"message":"\u001b[2J no"}"#),
            ], isShort: true, now)
        #expect(
            table.lines(width: nil, Appearance()).map(\.plain) == [
                "ID   STATE   TAKEN  NEW    CHECKED      NEXT  NAME",
                "01A  active      3    0  3m00s ago  in 1h05m  Show",
                "01A  active      3    0      never            Show: ?[2J no",
            ])
        #expect(table.lines(width: 30, Appearance()).allSatisfy { $0.plain.count <= 30 })
    }

    @Test(
        "The next check is a time from now, or the reason why there is none",
        arguments: [
            (#""nextCheckAt":"2026-11-23T14:05:00.000Z""#, "next check in 5m00s"),
            (#""nextCheckAt":"2026-11-23T13:05:00.000Z""#, "next check in 0s"), (#""nextCheckAt":null"#, "is active"),
        ])
    func next(members: String, text: String) throws {
        let now = try #require(Timestamp(parsing: "2026-11-23T14:00:00.000Z"))
        #expect(try Self.subscription(members).next(now) == text)
    }

    // MARK: - With a service

    /// A feed of `count` episodes at `/show.xml`; other paths end in `missing`, or are files.
    private static func origin(_ count: Locked<Int>) throws -> ScriptedOrigin {
        try ScriptedOrigin { request in
            guard request.target == "/show.xml" else {
                guard request.target.hasPrefix("/file") else { return [.response(404)] }
                return [.response(200, [("Content-Type", "audio/mpeg")], body: Array("hello".utf8))]
            }
            let items = (0..<count.withLock { $0 }).reversed().map { number in
                "<item><guid>\(number)</guid><title>Part \(number)</title>"
                    + "<enclosure url=\"/file\(number).mp3\" length=\"5\" type=\"audio/mpeg\"/></item>"
            }
            let text = "<rss version=\"2.0\"><channel><title>Show</title>\(items.joined())</channel></rss>"
            return [.response(200, [("Content-Type", "application/rss+xml")], body: Array(text.utf8))]
        }
    }

    private struct Bench {
        let server: String
        let origin: ScriptedOrigin
        let service: RemoteService

        func run(_ line: String...) async throws -> Int32 {
            await ClientCommand.run(try CommandLineParser.parse(line + ["--server", server], environment: [:]))
        }

        func subscriptions() async throws -> [JSONValue] { try await service.subscriptions() }
    }

    private func withService(_ origin: ScriptedOrigin, _ body: (Bench) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        let base = try #require(HTTPURL(origin.url("")))
        var configuration = Configuration()
        configuration.server.port = 0
        configuration.downloads.dataDirectory = directory.path
        configuration.itunesURL = base
        configuration.downloads.destinationGuard.allowed = [DestinationRule(base)]
        let service = try await Service.start(configuration, log: Log(level: .error, format: .text))
        let result: Result<Void, any Error>
        do {
            let client = try RemoteService(try CommandLineParser.parse(["list", "--server", service.url], environment: [:]))
            defer { client.close() }
            result = .success(try await body(Bench(server: service.url, origin: origin, service: client)))
        } catch {
            result = .failure(error)
        }
        await service.stop(within: .seconds(2))
        try result.get()
    }

    @Test("A subscription is made, made again, refreshed and ended; its downloads stay")
    func life() async throws {
        let count = Locked(3)
        try await withService(try Self.origin(count)) { bench in
            let url = bench.origin.url("/show.xml")
            #expect(try await bench.run("subscribe", "--take", "latest:2", "--every", "2h", url) == 0)
            var present = try await bench.subscriptions()
            #expect(present.count == 1)
            // The first check has ended, and was the only one.
            #expect(bench.origin.requests.count { $0.target == "/show.xml" } == 1)
            #expect(present.first?["name"]?.string == "Show")
            #expect(present.first?["items"]?["taken"]?.integer == 2)
            #expect(present.first?["every"]?.integer == 7200)
            #expect(try await bench.run("subscribe", "--every", "3h", url) == 0)
            present = try await bench.subscriptions()
            #expect(present.compactMap { $0["every"]?.integer } == [7200])

            count.withLock { $0 = 4 }
            let id = try #require(present.first?["id"]?.string)
            #expect(try await bench.run("refresh", String(id.suffix(20)).lowercased()) == 0)
            #expect(try await bench.subscriptions().first?["items"]?["taken"]?.integer == 3)
            #expect(try await bench.run("subscriptions") == 0)
            #expect(try await bench.run("refresh", id, "01NONE") == 1)
            #expect(try await bench.run("unsubscribe", "01NONE", id) == 1)
            #expect(try await bench.subscriptions().isEmpty)
            #expect(try await bench.service.list(limit: 10).items.count == 3)
            #expect(try await bench.run("refresh", id) == 1)
        }
    }

    @Test("A failed first check fails the command, and leaves the subscription")
    func failure() async throws {
        try await withService(try Self.origin(Locked(0))) { bench in
            #expect(try await bench.run("subscribe", bench.origin.url("/missing.xml")) == 1)
            let present = try await bench.subscriptions()
            #expect(present.count == 1)
            let id = try #require(present.first?["id"]?.string)
            #expect(present.first?["failures"]?.integer == 1)
            #expect(try await bench.run("refresh", id) == 1)
            #expect(try await bench.subscriptions().first?["failures"]?.integer == 2)
            for refused in ["http://10.0.0.1/", "nowhere:1", "itunes:7"] {
                #expect(try await bench.run("subscribe", refused) == 1, "\(refused)")
            }
            #expect(try await bench.subscriptions().count == 1)
        }
    }

    @Test(
        "A check found what was taken, or what waits",
        arguments: [
            (4, 1, 0, "1 new item taken"), (6, 0, 0, "2 new items taken"),
            (3, 1, 2, "2 new items, to be taken once it is resumed"),
            (3, 1, 0, "nothing new"), (2, 2, 0, "nothing new"),
        ])
    func findings(taken: Int, expired: Int, new: Int, text: String) throws {
        let members = #""items":{"new":\#(new),"taken":\#(taken),"expired":\#(expired)}"#
        let value = try JSONValue(parsing: Array(#"{"id":"01A","name":"Show","state":"active",\#(members)}"#.utf8))
        #expect(ClientCommand.findings(try Self.subscription(#""x":0"#), try #require(RemoteSubscription(value))) == text)
    }
}
