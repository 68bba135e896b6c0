import CommandLine
import JSON
import Terminal
import Testing

@testable import PawlClient

@Suite("Lists of results, parts, formats and downloads")
struct ListingTests {
    private func json(_ text: String) throws -> [JSONValue] { try JSONValue(parsing: Array(text.utf8)).array ?? [] }

    private func lines(_ table: TextTable, width: Int? = nil) -> [String] { table.lines(width: width, Appearance()).map(\.plain) }

    @Test("A result shows its file, parts, lack of both, or download")
    func results() throws {
        let results = try json(
            #"[{"name":"Song","durationMs":61000,"downloadUrl":"http://a.example/"},"#
                + #"{"name":"Album","downloadUrl":null,"partCount":10,"links":{"parts":"/search/parts?id=a"}},"#
                + #"{"name":"Work","links":{"parts":"/search/parts?id=b"}},{"name":"Artist","links":{"parts":null}},"#
                + #"{"name":"Done","downloadUrl":"http://a.example/","download":{"id":"1","state":"completed"}},{}]"#)
        let lines = lines(ClientCommand.table(ofResults: results))
        #expect(lines.count == 7)
        for (line, end) in zip(lines.dropFirst(), ["1:01", "10 parts", "parts", "no file", "completed", "no file"]) {
            #expect(line.split(separator: "  ").last?.drop { $0 == " " } == end[...], "\(line)")
        }
    }

    @Test("Parts have numbers, formats, times and sizes; narrow tables keep number and name")
    func parts() throws {
        let parts = try json(
            #"[{"name":"One","format":"VBR MP3","bytes":1048576,"durationMs":61000,"downloadUrl":"http://a.example/1"},"#
                + #"{"name":"Two \u001b[2J","format":"Flac","bytes":null,"durationMs":null,"downloadUrl":null,"number":7}]"#)
        let wide = lines(ClientCommand.table(ofParts: parts))
        #expect(wide[0] == "#  NAME      TIME  FORMAT      SIZE  STATE")
        #expect(wide[1].hasPrefix("1  One       1:01  VBR MP3  1.0 MiB"))
        #expect(wide[2] == "2  Two ?[2J        Flac              no file")
        for line in lines(ClientCommand.table(ofParts: parts), width: 20) { #expect(line.count <= 20, "\(line)") }
        #expect(lines(ClientCommand.table(ofParts: parts), width: 20)[1].hasPrefix("1  One"))
        let songs = try json(#"[{"name":"One","format":null,"bytes":null,"durationMs":61000,"downloadUrl":"http://a.example/"}]"#)
        #expect(lines(ClientCommand.table(ofParts: songs)) == ["#  NAME  TIME  STATE", "1  One   1:01  "])
    }

    @Test("Marks listed formats")
    func formats() throws {
        let formats = try json(
            #"[{"name":"Flac","count":8,"bytes":46137344,"source":"original","selected":true},"#
                + #"{"name":"VBR MP3","count":8,"bytes":null,"source":"derivative","selected":false}]"#)
        #expect(
            lines(ClientCommand.table(ofFormats: formats)) == [
                "FORMAT   PARTS      SIZE  SOURCE      LISTED", "Flac         8  44.0 MiB  original    yes",
                "VBR MP3      8            derivative  ",
            ])
    }

    @Test(
        "A total has the values known of all parts",
        arguments: [
            (#"[{"bytes":1024,"durationMs":61000},{"bytes":1024,"durationMs":60000}]"#, "2 parts, 2.0 KiB, 2:01"),
            (#"[{"bytes":1024,"durationMs":61000}]"#, "1 part, 1.0 KiB, 1:01"),
            (#"[{"bytes":1024,"durationMs":null},{"bytes":1,"durationMs":1}]"#, "2 parts, 1.0 KiB"),
            (#"[{"bytes":9223372036854775807},{"bytes":1}]"#, "2 parts"), (#"[{"bytes":-1},{"bytes":null}]"#, "2 parts"),
        ])
    func total(parts: String, total: String) throws {
        #expect(ClientCommand.total(of: try json(parts)) == total)
    }

    @Test(
        "The state of a queued download has its position",
        arguments: [
            (#""state":"queued","position":0"#, "queued #1"), (#""state":"queued","position":null"#, "queued"),
            (#""state":"queued","position":9223372036854775807"#, "queued"),
            (#""state":"paused","position":3"#, "paused"), (#""state":"downloading","stalled":true"#, "stalled"),
            (#""state":"downloading","stalled":false"#, "downloading"), (#""state":"failed","stalled":true"#, "failed"),
        ])
    func state(members: String, text: String) throws {
        let value = try JSONValue(parsing: Array(#"{"id":"1","url":"http://a.example/",\#(members)}"#.utf8))
        let download = try #require(RemoteDownload(value))
        #expect(download.stateText == text)
    }
}
