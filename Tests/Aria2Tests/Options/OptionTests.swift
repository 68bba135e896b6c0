import DownloadCore
import DownloadStore
import HTTPCore
import JSON
import Testing

@testable import Aria2

@Suite("Options")
struct OptionTests {
    private let files = FilesDirectory("/data/files/")

    private func options(_ json: String) throws -> RPCOptions {
        try RPCOptions(try JSONValue(parsing: Array(json.utf8)).members ?? [], in: files)
    }

    private func refusal(_ json: String) -> String? {
        do {
            _ = try options(json).download(of: ["http://h/a"], position: nil, usualSegments: 4)
            return nil
        } catch {
            return (error as? RPCError)?.message
        }
    }

    @Test(
        "Refuses bad values of known options with aria2's messages",
        arguments: [
            ("split", "0"), ("split", "x"), ("split", ""), ("split", "-1"), ("split", "1.5"), ("max-connection-per-server", "17"),
            ("pause", "maybe"), ("pause", "TRUE"), ("max-download-limit", "1X"), ("max-download-limit", "-1"),
            ("max-download-limit", "1.5M"), ("max-download-limit", "99999999999999999999"),
            ("max-download-limit", "9999999999999999M"),
            ("max-download-limit", ""), ("max-download-limit", "K"), ("allow-overwrite", "bogus"), ("timeout", "601"),
            ("min-split-size", "1K"), ("checksum", "sha-256=zz"), ("checksum", "nope=00"), ("checksum", "sha-256"),
        ])
    func badValues(name: String, value: String) {
        #expect(
            refusal(#"{"\#(name)":"\#(value)"}"#) == "We encountered a problem while processing the option '--\(name)'.")
    }

    @Test("Ignores unknown and mistyped options")
    func ignored() throws {
        for json in [#"{"nope":"x"}"#, #"{"split":5}"#, #"{"pause":true}"#, #"{"dir":5,"header":5}"#, #"{"out":""}"#] {
            let new = try options(json).download(of: ["http://h/a"], position: nil, usualSegments: 4)
            #expect(new.segments == nil && !new.startsPaused && new.folder == nil && new.headers.isEmpty && new.filename == nil)
        }
    }

    @Test(
        "Names in `out` that name the same folder again count for nothing",
        arguments: [
            ("./x.bin", "", "x.bin"), ("././x.bin", "", "x.bin"), ("a/./b/x.bin", "a/b", "x.bin"),
            ("./a/x.bin", "a", "x.bin"), ("x.bin", "", "x.bin"),
        ])
    func paths(out: String, folder: String, name: String) throws {
        let new = try options(#"{"out":"\#(out)"}"#).download(of: ["http://h/a"], position: nil, usualSegments: 4)
        #expect(new.folder ?? "" == folder && new.filename == name)
        for dir in ["music", "./music", "/data/files/music/."] {
            let new = try options(#"{"out":"\#(out)","dir":"\#(dir)"}"#).download(
                of: ["http://h/a"], position: nil, usualSegments: 4)
            #expect(new.folder == (folder.isEmpty ? "music" : "music/" + folder) && new.filename == name)
        }
    }

    @Test(
        "Refuses an `out` without a name, or outside of the directory",
        arguments: [".", "./", "a/", "a/.", "/x", "//x", "/./x", "a//x", ".//x", "../x", "./../x", "a/../x"])
    func badPaths(out: String) {
        #expect(refusal(#"{"out":"\#(out)"}"#)?.contains("'--out'") == true)
    }

    @Test("Sizes have K and M; the smaller number of connections applies")
    func numbers() throws {
        let limits = [("0", 0), ("10", 10), ("10K", 10_240), ("2m", 2_097_152)]
        for (text, bytes) in limits {
            #expect(try options(#"{"max-download-limit":"\#(text)"}"#).common.speedLimit == Int64(bytes))
        }
        let connections = [
            (#"{"split":"5","max-connection-per-server":"3"}"#, 3), (#"{"split":"2"}"#, 2), (#"{"split":"9"}"#, 4),
            (#"{"max-connection-per-server":"16"}"#, 4), (#"{"split":"1000","max-connection-per-server":"16"}"#, 16), ("{}", nil),
        ]
        for (json, segments) in connections { #expect(try options(json).segments(usual: 4) == segments, "\(json)") }
    }

    @Test("Translates addUri into a download request")
    func download() throws {
        let json = """
            {"dir":"/data/files/music/new","out":"a.bin","pause":"true","gid":"00000000000000aB","referer":"http://r/",\
            "checksum":"sha-1=0123456789abcdef0123456789ABCDEF01234567","max-download-limit":"1K","http-user":"u","http-passwd":"p:q",\
            "header":["Cookie: a=1","X-A: 1","Cookie: b=2","Range: bytes=0-","Host: x","x-a: 2"],"user-agent":"agent"}
            """
        let new = try options(json).download(
            of: ["nope", " http://h/a b/ü?x=1|2 ", "HTTPS://user:pw@H:443/c\\d#f", "ftp://h/e"], position: 3, usualSegments: 4)
        #expect(new.url.string == "http://h/a%20b/%C3%BC?x=1|2")
        #expect(new.mirrors?.map(\.string) == ["https://h/c%5Cd"])
        #expect(new.folder == "music/new")
        #expect(new.filename == "a.bin")
        #expect(new.startsPaused)
        #expect(new.gid?.value == 0xab)
        #expect(new.checksum?.description == "sha-1:0123456789abcdef0123456789abcdef01234567")
        #expect(new.speedLimit == 1024)
        #expect(new.timeouts == nil && new.remoteTime == nil)
        #expect(new.position == 3)
        #expect(new.onDuplicate == .new)
        #expect(
            new.headers.map { "\($0.name): \($0.value)" } == [
                "Cookie: a=1; b=2", "X-A: 1, 2", "User-Agent: agent", "Referer: http://r/", "Authorization: Basic dTpwOnE=",
            ])
    }

    @Test("Reads header fields from lists and lines, sends the URL's user, and replaces the referer * by the URL")
    func fields() throws {
        let new = try options(#"{"header":"A: 1\r\n\nB:2\n","referer":"*"}"#)
            .download(of: ["http://user:p%20w@h/a"], position: nil, usualSegments: 4)
        #expect(new.url.string == "http://h/a")
        #expect(
            new.headers.map { "\($0.name): \($0.value)" } == [
                "A: 1", "B: 2", "Referer: http://h/a", "Authorization: Basic dXNlcjpwIHc=",
            ])
        for header in [
            #"["A: 1\r\nB: 2"]"#, #"["A: \u0000"]"#, #""no colon""#, #"["a b: 1"]"#,
            #"["A: \#(String(repeating: "x", count: 8193))"]"#,
        ] {
            #expect(refusal(#"{"header":\#(header)}"#)?.contains("'--header'") == true, "\(header)")
        }
        let many = (0...50).map { #""X-\#($0): 1""# }.joined(separator: ",")
        #expect(refusal(#"{"header":[\#(many)]}"#)?.contains("'--header'") == true)
    }

    @Test("Skips invalid URIs, and requires a valid one")
    func addresses() throws {
        func refusal(_ addresses: [String]) -> String? {
            do {
                _ = try options("{}").download(of: addresses, position: nil, usualSegments: 4)
                return nil
            } catch {
                return (error as? RPCError)?.message
            }
        }
        #expect(refusal([]) == "URI is not provided.")
        for text in ["", "nope", "http:/x"] { #expect(refusal([text]) == "No URI to download.", "\(text)") }
        for text in ["magnet:?xt=urn:btih:0", "ftp://h/x", "file:///etc/passwd"] {
            #expect(refusal([text])?.hasPrefix("No URI to download: only http and https") == true, "\(text)")
        }
        #expect(refusal(["http://"]) == "No URI to download: the URL has no host.")
        #expect(refusal(["http://b\u{FC}cher.example/"])?.contains("xn--") == true)
        #expect(refusal((0..<18).map { "http://h/\($0)" })?.contains("at most 17") == true)
        #expect(refusal((0..<17).map { "http://h/\($0)" }) == nil)
        #expect(PastedURL.parse("http://h/" + String(repeating: "x", count: DownloadLimits.url)) == nil)
        #expect(PastedURL.parse("http://h/a\r\nHost: \u{0}x\n")?.string == "http://h/a%0D%0AHost:%20%00x")
    }

    @Test("The call decides time limits and the modification time; a change keeps the others")
    func waits() throws {
        func new(_ json: String) throws -> NewDownload {
            try options(json).download(of: ["http://h/a"], position: nil, usualSegments: 4)
        }
        #expect(try new(#"{"timeout":"90"}"#).timeouts == Timeouts(response: 90, stall: 90))
        #expect(try new(#"{"connect-timeout":"7"}"#).timeouts == Timeouts(connect: 7))
        #expect(try new(#"{"remote-time":"true"}"#).remoteTime == true)
        #expect(try new(#"{"remote-time":"false"}"#).remoteTime == false)
        let id = RecordID(value: 7)
        var download = Download(id: id, url: "http://h/a", createdAt: id.createdAt)
        download.timeouts = Timeouts(connect: 3, stall: 4)
        let change = try options(#"{"timeout":"9"}"#).change(of: download, usualSegments: 4)
        #expect(change.timeouts == Timeouts(connect: 3, response: 9, stall: 9))
        #expect(try options(#"{"split":"2"}"#).change(of: download, usualSegments: 4).timeouts == nil)
        for json in [#"{"timeout":"0"}"#, #"{"connect-timeout":"601"}"#, #"{"remote-time":"yes"}"#] {
            #expect(refusal(json) != nil, "\(json)")
        }
    }

    @Test(
        "max-tries 0 is for ever, and retry-wait 0 leaves the delay to the service; a change keeps the others",
        arguments: [
            (#"{"max-tries":"0"}"#, RetryChoice.forEver, nil), (#"{"max-tries":"1"}"#, 1, nil),
            (#"{"max-tries":"2147483647","retry-wait":"30"}"#, 1_000_000, 30), (#"{"retry-wait":"0"}"#, nil, nil),
        ] as [(String, Int?, Int?)])
    func retries(json: String, attempts: Int?, wait: Int?) throws {
        let new = try options(json).download(of: ["http://h/a"], position: nil, usualSegments: 4)
        #expect((new.retry ?? RetryChoice()) == RetryChoice(attempts: attempts, longestDelay: wait))
        let id = RecordID(value: 7)
        var download = Download(id: id, url: "http://h/a", createdAt: id.createdAt)
        download.retry = RetryChoice(attempts: 5, longestDelay: 6, statuses: [404])
        let change = try options(json).change(of: download, usualSegments: 4)
        let isUnchanged = attempts == nil && wait == nil
        #expect(
            change.retry
                == (isUnchanged
                    ? nil : RetryChoice(attempts: attempts ?? 5, longestDelay: wait ?? 6, statuses: [404])))
    }

    @Test("A chosen gid has 16 digits and is not 0")
    func gids() {
        for gid in ["", "12", "zz", "0000000000000000", "00000000000000abc"] {
            #expect(refusal(#"{"gid":"\#(gid)"}"#)?.contains("'--gid'") == true)
        }
    }

    @Test("Accepts dir in the files directory, and refuses others by name")
    func directories() throws {
        let folders = [
            ("/data/files", ""), ("/data/files/", ""), ("//data/./files//a/b/", "a/b"), ("music", "music"), ("./a", "a"),
            (".", ""),
        ]
        for (path, folder) in folders { #expect(try files.folder(ofDirectory: path) == folder) }
        for path in ["/", "/data", "/data/filesx", "/data/files/../x", "..", "a/../b", "/tmp", "/data/files/.."] {
            #expect(refusal(#"{"dir":"\#(path)"}"#)?.contains("'--dir'") == true, "\(path)")
        }
        #expect(files.directory(ofFolder: "") == "/data/files")
        #expect(files.directory(ofFolder: "a/b") == "/data/files/a/b")
        #expect(FilesDirectory("/").directory(ofFolder: "a") == "/a")
        #expect(try options(#"{"dir":""}"#).folder == "")
        #expect(try options("{}").folder == nil)
    }

    @Test("Global options become settings within their ranges; dir stays")
    func global() throws {
        func values(_ json: String) throws -> [ServiceSettings.Name: Int64] {
            try GlobalOptions(try JSONValue(parsing: Array(json.utf8)).members ?? [], in: files).values
        }
        #expect(
            try values(#"{"max-concurrent-downloads":"3","max-overall-download-limit":"1M","split":"5","nope":"x"}"#)
                == [.maxConcurrent: 3, .speedLimit: 1 << 20, .segments: 5])
        #expect(try values(#"{"max-concurrent-downloads":"100000","dir":"/data/files"}"#) == [.maxConcurrent: 1000])
        #expect(try values(#"{"max-download-limit":"1K"}"#).isEmpty)
        for json in [#"{"max-concurrent-downloads":"0"}"#, #"{"dir":"/tmp"}"#, #"{"dir":"/data/files/a"}"#, #"{"split":"x"}"#] {
            #expect(throws: RPCError.self) { try values(json) }
        }
    }

    @Test("changeUri deletes each URI once, and adds valid ones")
    func uris() throws {
        let known = try ["http://h/a", "http://h/b", "http://h/a"].map { try #require(HTTPURL($0)) }
        func list(_ deleted: [String], _ added: [String], _ position: Int? = nil) -> String {
            let list = URIList(known, deleting: deleted, adding: added, at: position)
            return "\(list.deleted) \(list.added) " + list.urls.map { $0.path.dropFirst() }.joined()
        }
        #expect(list([], []) == "0 0 aba")
        #expect(list(["http://h/a"], []) == "1 0 ba")
        #expect(list(["http://h/a", "http://h/a", "http://h/a", "x"], []) == "2 0 b")
        #expect(list([], ["http://h/c", "junk", "http://h/d"]) == "0 2 abacd")
        #expect(list(["http://h/b"], ["http://h/c", "http://h/d"], 1) == "1 2 acda")
        #expect(list([], ["http://h/c"], 100) == "0 1 abac")
    }
}
