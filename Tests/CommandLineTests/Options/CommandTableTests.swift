import DownloadCore
import Foundation
import Testing

@testable import CommandLine

@Suite("Help, manual page and completions agree with the table")
struct CommandTableTests {
    /// A text without roff's escapes.
    private static func plain(_ roff: String) -> String {
        roff.replacing(#"\-"#, with: "-").replacing(#"\fB"#, with: "").replacing(#"\fI"#, with: "").replacing(#"\fR"#, with: "")
            .replacing(#"\&"#, with: "").replacing(#"\(ti"#, with: "~").replacing(#"\(aq"#, with: "'").replacing(
                #"\(dq"#, with: "\"")
    }

    @Test("Each command has exactly one entry")
    func commands() {
        #expect(CommandTable.all.map(\.name) == CommandName.allCases)
    }

    @Test("No flag of a command belongs to two options", arguments: CommandName.allCases)
    func flags(name: CommandName) {
        let flags = CommandTable.command(name).options.flatMap(\.flags) + ["--help", "-h", "--version", "-V"]
        #expect(Set(flags).count == flags.count)
    }

    @Test("Help, command pages, manual page and completions list each option")
    func options() throws {
        let manual = Self.plain(ManualPage.text)
        let overview = Help.text(for: .help)
        for command in CommandTable.all {
            let page = Help.text(for: command.name)
            for option in command.options {
                for flag in option.flags {
                    #expect(manual.contains(flag), "\(flag) in the manual")
                    #expect(
                        page.contains(flag) || command.name == .help || command.name == .version, "\(flag) of \(command.name)")
                    #expect(overview.contains(flag), "\(flag) in the overview")
                }
            }
            #expect(manual.contains("\n.B \(command.name.rawValue)\n"))
        }
        for shell in CommandTable.shells {
            let script = try #require(Completions.script(for: shell))
            for command in CommandTable.all {
                #expect(script.contains(command.name.rawValue))
                for option in command.options {
                    let long = shell == "fish" ? "-l \(option.name)" : option.flag
                    #expect(script.contains(long), "\(long) in \(shell)")
                }
            }
        }
        #expect(Completions.script(for: "tcsh") == nil)
    }

    @Test("Help and manual page list each exit status")
    func statuses() {
        for status in ExitStatus.allCases {
            #expect(Help.text(for: .help).contains("\n  \(status.rawValue)        \(status.meaning.prefix(40))"))
            #expect(ManualPage.text.contains(".B \(status.rawValue)\n"))
        }
        #expect(!Help.text(for: .get).contains("the service requires a token"))
        #expect(Help.text(for: .list).contains("the service requires a token"))
        #expect(!Help.text(for: .list).contains("pawl check could not check"))
        #expect(Help.text(for: .check).contains("pawl check could not check"))
        #expect(!Help.text(for: .check).contains("the service requires a token"))
    }

    @Test("The introduction names each command on one screen")
    func introduction() throws {
        let lines = Help.text(for: try CommandLineParser.parse([], environment: [:]).topic).split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 40)
        for command in CommandName.allCases { #expect(lines.contains { $0.hasPrefix("  \(command.rawValue) ") }, "\(command)") }
        #expect(Help.text(for: try CommandLineParser.parse(["help"], environment: [:]).topic) == Help.text(for: .help))
    }

    @Test("No line of the help exceeds the width", arguments: [nil] + CommandName.allCases)
    func width(topic: CommandName?) {
        for line in Help.text(for: topic).split(separator: "\n") { #expect(line.count <= 130, "\(line)") }
    }

    private static func document(_ name: String) throws -> String {
        let docs = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../docs").standardized
        return try String(contentsOf: docs.appending(path: name), encoding: .utf8)
    }

    @Test("docs/pawl.1 equals the output of pawl man")
    func manualIsCurrent() throws {
        #expect(try Self.document("pawl.1") == ManualPage.text, "run: pawl man > docs/pawl.1")
    }

    @Test("docs/terminal.md names every command and exit status")
    func terminalPage() throws {
        let text = try Self.document("terminal.md")
        for command in CommandName.clients.union([.get, .check, .completions, .man]) {
            #expect(text.contains("pawl \(command.rawValue)"), "\(command)")
        }
        for status in ExitStatus.allCases { #expect(text.contains("| \(status.rawValue) |"), "\(status)") }
    }

    @Test(
        "Escapes text for roff",
        arguments: [("a-b", #"a\-b"#), (".B", #"\&.B"#), (#"\fB"#, #"\efB"#), ("'x'", #"\(aqx\(aq"#), ("~/x", #"\(ti/x"#)])
    func escaping(text: String, roff: String) {
        #expect(ManualPage.escaped(text) == roff)
    }

    @Test("Escapes text for shells")
    func quoting() {
        #expect(Completions.quoted("it's") == #"'it'\''s'"#)
    }
}

@Suite("Amounts of bytes")
struct ByteCountTests {
    @Test(
        "Units are multiples of 1024",
        arguments: [
            ("0", 0), ("4096", 4096), ("500k", 512_000), ("2M", 2_097_152), ("1.5G", 1_610_612_736), ("0.5K", 512), ("1.5", nil),
            ("", nil),
            ("M", nil), ("-1", nil), ("+1", nil), ("2MB", nil), ("1.M", nil), (".5M", nil), ("9223372036854775807", .max),
            ("9223372036854775808", nil), ("9007199254740992K", nil), ("8589934591.9999999G", nil), ("1e3", nil),
            ("2t", 2_199_023_255_552),
        ] as [(String, Int64?)])
    func amounts(text: String, bytes: Int64?) {
        #expect(ByteCount(parsing: text)?.bytes == bytes)
    }
}
