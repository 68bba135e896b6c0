import JSON
import Terminal
import Testing

@testable import PawlClient

@Suite("Settings in the terminal")
struct SettingsCommandTests {
    private static func present() throws -> JSONValue {
        try JSONValue(
            parsing: Array(#"{"maxConcurrent":8,"speedLimit":0,"speedSchedule":[],"webhooks":["https://a.example/"]}"#.utf8))
    }

    @Test(
        "Assignments become members of the request",
        arguments: [
            (["maxConcurrent=3"], #"{"maxConcurrent":3}"#),
            (["speedLimit=2M", "maxConcurrent=1"], #"{"speedLimit":2097152,"maxConcurrent":1}"#),
            (["webhooks="], #"{"webhooks":[]}"#),
            (["speedSchedule=mon 08:00-09:00 1M"], #"{"speedSchedule":["mon 08:00-09:00 1M"]}"#),
            (["webhooks=https://b/?a=b", "webhooks=https://c/"], #"{"webhooks":["https://b/?a=b","https://c/"]}"#),
        ])
    func changes(assignments: [String], body: String) throws {
        let changes = try ClientCommand.changes(assignments, of: try Self.present())
        #expect(String(decoding: changes.serialized(), as: UTF8.self) == body)
    }

    @Test(
        "Refuses unknown names and other values",
        arguments: [
            (
                ["nothing=1"],
                "there is no setting 'nothing'; the settings are: maxConcurrent, speedLimit, speedSchedule, webhooks"
            ),
            (
                ["maxConcurrent=many"],
                "the setting 'maxConcurrent' takes a number such as 3, or of bytes such as 2M (2 MiB), not 'many'"
            ),
            (["speedLimit=1", "speedLimit=2"], "the setting 'speedLimit' is given more than once"),
        ])
    func refusals(assignments: [String], message: String) throws {
        let present = try Self.present()
        #expect(throws: RemoteError.usage(message)) { try ClientCommand.changes(assignments, of: present) }
    }

    @Test("Lists each entry of a list, and empty ones")
    func table() throws {
        let lines = ClientCommand.table(ofSettings: try Self.present()).lines(width: nil, Appearance()).map(\.plain)
        #expect(
            lines.map { $0.split(separator: " ").map(String.init) } == [
                ["NAME", "VALUE"], ["maxConcurrent", "8"], ["speedLimit", "0"], ["speedSchedule", "none"],
                ["webhooks", "https://a.example/"],
            ])
    }
}
