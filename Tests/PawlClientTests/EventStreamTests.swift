import JSON
import Testing

@testable import PawlClient

@Suite("Event streams")
struct EventStreamTests {
    typealias Event = EventStreamParser.Event

    private static func event(_ name: String, _ data: String) -> Event { Event(name: name, data: Array(data.utf8)) }

    @Test(
        "Reads events as in the specification, in every division",
        arguments: [
            ("event: a\ndata: x\n\n", [event("a", "x")]), ("data: x\r\ndata:y\r\n\r\n", [event("message", "x\ny")]),
            ("data: x\r\rdata: y\r\r", [event("message", "x"), event("message", "y")]), (": comment\n\n", []),
            (":\n:\nretry: 1000\nid: 1\nevent: a\ndata: [1,\n:\ndata: 2]\n\n:\n", [event("a", "[1,\n2]")]),
            ("id: 1\nevent: a\n\ndata\n\n", [event("message", "")]), ("data: x\n", []),
            ("retry: 5\nother: 1\ndata:  x\n\n", [event("message", " x")]),
        ])
    func parsing(text: String, expected: [Event]) throws {
        var parser = EventStreamParser()
        #expect(try parser.parse(Array(text.utf8)) == expected)
        var slow = EventStreamParser()
        #expect(try text.utf8.flatMap { try slow.parse([$0]) } == expected)
    }

    @Test("Refuses an endless event", arguments: ["data: 123456789012345", "data: 12345\ndata: 12345\ndata: 12345\n"])
    func limit(text: String) {
        var parser = EventStreamParser(limit: 12)
        #expect(throws: EventStreamParser.TooLong.self) { try parser.parse(Array(text.utf8)) }
    }

    @Test("Reads any bytes equally in every division", arguments: 1...50)
    func anyBytes(seed: UInt64) throws {
        var state = seed &* 0x9E37_79B9_7F4A_7C15
        func next() -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state >> 33)
        }
        let words = ["data", "event", ":", ": ", "\n", "\r", "\r\n", "\n\n", "id", "x", "\u{FEFF}", "\u{0}"]
        let bytes = (0..<200).flatMap { _ in Array(words[next() % words.count].utf8) }
        var whole = EventStreamParser()
        let expected = try whole.parse(bytes)
        for size in [1, 2, 3, 7] {
            var cut = EventStreamParser()
            var events: [Event] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                events += try cut.parse(bytes[start..<min(bytes.count, start + size)])
            }
            #expect(events == expected)
        }
    }

    private static func download(_ id: String, _ state: String, _ bytes: Int64) -> JSONValue {
        .object([
            JSONMember(name: "id", value: .string(id)), JSONMember(name: "url", value: .string("http://a.example/" + id)),
            JSONMember(name: "state", value: .string(state)), JSONMember(name: "bytesReceived", value: .integer(bytes)),
        ])
    }

    @Test("A slow reader gets each change of state, and the latest progress")
    func inbox() {
        var inbox = EventInbox()
        for bytes in 1...1000 { inbox.add(.download(Self.download("1", "downloading", Int64(bytes)))) }
        inbox.add(.download(Self.download("2", "queued", 0)))
        inbox.add(.download(Self.download("1", "completed", 1000)))
        inbox.add(.removed("1"))
        inbox.add(.download(Self.download("1", "queued", 0)))
        let expected: [ServiceEvent] = [
            .download(Self.download("1", "downloading", 1000)), .download(Self.download("2", "queued", 0)),
            .download(Self.download("1", "completed", 1000)), .removed("1"), .download(Self.download("1", "queued", 0)),
        ]
        #expect(inbox.takeAll() == expected)
        #expect(inbox.takeAll().isEmpty)
    }

    @Test("An event is one line of JSON")
    func line() {
        #expect(ServiceEvent.removed("1").line == #"{"event":"removed","data":{"id":"1"}}"#)
        #expect(ServiceEvent(Event(name: "download", data: Array("{}".utf8))) == .download(.object([])))
        #expect(ServiceEvent(Event(name: "other", data: Array("{}".utf8))) == nil)
        #expect(ServiceEvent(Event(name: "snapshot", data: Array("{".utf8))) == nil)
    }
}
