import CommandLine
import JSON
import Terminal
import Testing

@testable import DownloadCore
@testable import PawlClient

@Suite("The screen of pawl watch")
struct WatchModelTests {
    private func download(_ id: String, _ state: String, name: String? = nil, updated: String = "2026-01-01") -> JSONValue {
        let members: [(String, JSONValue)] = [
            ("id", .string(id)), ("url", .string("http://a.example/" + id)), ("state", .string(state)),
            ("filename", name.map { .string($0) } ?? .null), ("bytesReceived", .integer(50)), ("bytesTotal", .integer(100)),
            ("bytesPerSecond", .integer(1024)), ("updatedAt", .string(updated)),
        ]
        return .object(members.map { JSONMember(name: $0.0, value: $0.1) })
    }

    private func model(_ states: [(String, String)]) -> WatchModel {
        var model = WatchModel(server: "http://127.0.0.1:8080")
        model.take(list: states.map { download($0.0, $0.1) })
        model.take(.snapshot([]))
        return model
    }

    @Test("Transferring downloads come first, then waiting ones, then the latest ended ones")
    func order() {
        var model = model([("1", "completed"), ("2", "paused"), ("3", "downloading"), ("4", "queued"), ("5", "retrying")])
        model.take(.download(download("6", "failed", updated: "2026-01-02")))
        #expect(model.rows.map(\.id) == ["3", "5", "4", "2", "6", "1"])
    }

    @Test("A list older than the stream changes no download of the stream")
    func staleList() {
        var model = model([("1", "downloading"), ("2", "downloading")])
        model.take(.snapshot([download("1", "downloading")]))
        model.take(.download(download("1", "completed")))
        model.take(.download(download("3", "queued")))
        model.take(.removed("4"))
        // The second one was removed while no client was connected, so there was no event.
        model.take(list: [download("1", "downloading"), download("4", "downloading")])
        #expect(model.downloads.mapValues(\.status.state) == ["1": .completed, "3": .queued])
    }

    @Test("Reports a change of state once")
    func changes() {
        var model = model([("1", "queued")])
        #expect(model.take(.download(download("1", "downloading")))?.id == "1")
        #expect(model.take(.download(download("1", "downloading"))) == nil)
        #expect(model.take(.download(.null)) == nil)
    }

    @Test(
        "Watching chosen downloads ends when all have ended",
        arguments: [
            (["completed", "completed"], true, true), (["completed", "failed"], true, false),
            (["completed", "paused"], false, false),
            (["removed", "completed"], true, false),
        ])
    func chosen(states: [String], isOver: Bool, isComplete: Bool) {
        var model = WatchModel(server: "s", chosen: ["0", "1"])
        model.take(list: [download("0", "queued"), download("1", "queued"), download("2", "queued")])
        #expect(model.downloads.count == 2)
        for (id, state) in states.enumerated() {
            model.take(state == "removed" ? .removed(String(id)) : .download(download(String(id), state)))
        }
        model.take(.download(download("3", "completed")))
        #expect(model.isOver == isOver)
        #expect(model.isComplete == isComplete)
    }

    @Test("Keys select and command a download; cancelling needs a confirmation")
    func keys() {
        var model = model([("1", "downloading"), ("2", "queued"), ("3", "paused"), ("4", "completed")])
        _ = model.screen(TerminalDevice.Size(columns: 80, rows: 24), now: .now, Appearance())
        #expect(model.take(.character("p")) == nil)
        #expect(model.notice != nil)
        #expect(model.take(.down) == nil)
        #expect(model.selected == "1")
        #expect(model.take(.character("p")) == .perform("pause", id: "1"))
        #expect(model.take(.down) == nil && model.take(.down) == nil)
        #expect(model.take(.character(" ")) == .perform("resume", id: "3"))
        #expect(model.take(.character("c")) == nil)
        #expect(model.question?.id == "3")
        #expect(model.take(.character("n")) == nil)
        #expect(model.take(.character("c")) == nil)
        #expect(model.take(.character("y")) == .perform("cancel", id: "3"))
        #expect(model.take(.end) == nil)
        #expect(model.take(.character("c")) == nil)
        #expect(model.question == nil && model.notice == "the download is completed")
        #expect(model.take(.character("q")) == .quit)
        #expect(model.take(.interrupt) == .quit)
    }

    @Test("The selected download stays selected and visible when the order changes")
    func scrolling() {
        var model = model((10..<60).map { (String($0), "queued") })
        let size = TerminalDevice.Size(columns: 80, rows: 14)
        _ = model.screen(size, now: .now, Appearance())
        for _ in 0..<30 { _ = model.take(.down) }
        #expect(model.selected == "39")
        #expect(model.screen(size, now: .now, Appearance()).contains { $0.plain.hasPrefix("> http://a.example/39") })
        model.take(.download(download("39", "downloading")))
        #expect(model.screen(size, now: .now, Appearance()).contains { $0.plain.hasPrefix("> http://a.example/39") })
        _ = model.take(.pageDown)
        #expect(model.selected != "39")
        let screen = model.screen(size, now: .now, Appearance())
        #expect(screen.count == 14)
        #expect(screen.last?.plain.contains("more below") == true)
    }

    @Test("The screen fits every size, and draws hostile names as text", arguments: [1, 2, 3, 5, 10, 40, 80, 200])
    func sizes(columns: Int) {
        var model = model([("1", "downloading")])
        model.take(.download(download("2", "failed", name: "\u{1B}]0;owned\u{7}\r\n\u{202E}x")))
        model.connection = .offline("\u{1B}[2J", until: .now + .seconds(3))
        for rows in 1...30 {
            let lines = model.screen(TerminalDevice.Size(columns: columns, rows: rows), now: .now, Appearance(isUnicode: true))
            #expect(lines.count <= rows)
            for line in lines {
                #expect(line.width <= columns, "\(line.plain)")
                #expect(!line.rendered(Appearance()).unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E })
            }
        }
    }
}
