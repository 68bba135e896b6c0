import DownloadCore
import DownloadStore
import Downloads
import HTTPClient
import HTTPCore
import HTTPServer
import ObjectStorage
import PawlConfiguration
import Testing

@testable import CommandLine

@Suite("Command lines and environments")
struct CommandLineParserTests {
    private func parse(_ line: String, _ environment: [String: String] = [:]) throws -> Configuration {
        try CommandLineParser.parse(line.split(separator: " ").map(String.init), environment: environment).configuration
    }

    private func failure(_ arguments: [String], _ environment: [String: String] = [:]) -> String? {
        do throws(UsageError) {
            _ = try CommandLineParser.parse(arguments, environment: environment)
            return nil
        } catch {
            return error.description
        }
    }

    @Test("Without options, all values are the contract's defaults")
    func defaults() throws {
        let configuration = try parse("serve")
        #expect(configuration.server.host == "localhost")
        #expect(configuration.server.port == 8080)
        #expect(configuration.downloads.dataDirectory == "./pawl-data")
        #expect(configuration.token == nil)
        #expect(configuration.downloads.maxConcurrent == 8)
        #expect(configuration.downloads.maxPerHost == 4)
        #expect(configuration.downloads.segments == 4)
        #expect(configuration.downloads.speedLimit == 0)
        #expect(configuration.downloads.connectTimeout == .seconds(15))
        #expect(configuration.downloads.headTimeout == .seconds(60))
        #expect(configuration.downloads.stallTimeout == .seconds(30))
        #expect(!configuration.downloads.remoteTime && !configuration.downloads.ignoresAnnouncedMirrors)
        #expect(!configuration.downloads.destinationGuard.allowsPrivate)
        #expect(configuration.corsOrigins.isEmpty)
        #expect(configuration.itunesURL.string == "https://itunes.apple.com/")
        #expect(configuration.postsURL.string == "https://jsonplaceholder.typicode.com/")
        #expect(configuration.archiveURL.string == "https://archive.org/")
        #expect(configuration.logLevel == .info)
        #expect(configuration.logFormat == .text)
        #expect(try parse("demo").downloads.dataDirectory == "./pawl-demo")
    }

    @Test("Reads each option from a flag, a flag with an equals sign, and the environment")
    func everyOption() throws {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        // By option, or by the form of the value.
        let values = [
            "N": "3", "PATH": "/p", "TIME": "40s", "SIZE": "1G", "RATE": "1000", "URL": "http://127.0.0.1:1",
            "DESTINATION": "10.0.0.0/8", "ADDRESS": "127.0.0.2", "TOKEN": "t0ken", "SECRET": secret, "STATUS": "404",
            "TYPES": "download.failed,service.degraded", "ENTRY": "sat,sun\t22:00-06:00\t2M", "TEXT": "curl/8",
            "ORIGIN": "https://a.example", "HOST": "pawl.example", "CIDR": "10.0.0.0/8",
            "file-mode": "0640", "directory-mode": "0750", "webhook": "https://a.example/hook?key=x,y;z",
            "store": "postgres://a@b/c", "files": "s3://b/p?region=eu-west-1",
            "proxy": "http://user:pass@proxy.example:3128", "log-level": "debug", "log-format": "json",
        ]
        // Each of these requires another.
        let companions = ["store": " --files s3://b", "store-file": " --files s3://b", "files": " --store postgres://d"]
        let keys = ["AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key"]
        for option in OptionTable.options(of: .serve) {
            let form = option.placeholder ?? ""
            let value = form.isEmpty ? "true" : try #require(values[option.name] ?? values[form], "\(option.name)")
            let serve = "serve" + (companions[option.name] ?? "")
            let before = "\(try parse("serve", keys))"
            let separate = "\(try parse("\(serve) --\(option.name)" + (form.isEmpty ? "" : " \(value)"), keys))"
            let joined = "\(try parse("\(serve) --\(option.name)=\(value)", keys))"
            let name = try #require(option.variable)
            let variable = "\(try parse(serve, keys.merging([name: value]) { $1 }))"
            #expect(separate != before || option.isSecret, "\(option.name)")
            #expect(separate == joined, "\(option.name)")
            #expect(separate == variable, "\(option.name)")
            #expect(failure(["serve", "--\(option.name)=\0"])?.contains("it takes \(option.accepts)") == true, "\(option.name)")
        }
        #expect(try parse("serve --token t0ken").token?.digest == TokenDigest(of: "t0ken".utf8))
        #expect(try parse("serve --webhook-secret \(secret)").webhookSecrets == [WebhookSecret(secret)])
        let both = try parse("serve --webhook-secret-file w", ["PAWL_WEBHOOK_SECRET": secret])
        #expect(both.webhookSecretFile == "w")
        #expect(both.webhookSecrets == [])
    }

    @Test(
        "The number of retries may follow --retry, or be left out",
        arguments: [
            ("get --retry http://a.example/", 8), ("get --retry 3 http://a.example/", 3), ("get http://a.example/ --retry", 8),
            ("get --retry=0 http://a.example/", 0), ("serve --retry forever", RetryChoice.forEver), ("serve", nil),
        ] as [(String, Int?)])
    func retries(line: String, attempts: Int?) throws {
        #expect(try parse(line).downloads.retry == RetryChoice(attempts: attempts))
    }

    @Test("Refuses bad values of retries", arguments: ["--retry=x", "--retry=-1", "--retry-wait=0", "--retry-status=200"])
    func badRetries(option: String) throws {
        #expect(failure(["serve", option])?.contains("it takes") == true)
    }

    @Test("Further statuses accumulate")
    func retriedStatuses() throws {
        let given = try parse("serve --retry-status 404 --retry-status 403 --retry-wait 90")
        #expect(given.downloads.retry == RetryChoice(longestDelay: 90, statuses: [404, 403]))
        #expect(try parse("serve", ["PAWL_RETRY_STATUS": "404,410", "PAWL_RETRY": "0"]).downloads.retry.statuses == [404, 410])
    }

    @Test("Webhooks accumulate up to eight, and their URLs and secrets are not repeated in errors")
    func webhooks() throws {
        let environment = ["PAWL_WEBHOOK": "https://a.example/?a,b;c https://b.example/"]
        let given = try parse("serve", environment).downloads.webhooks?.map(\.string)
        #expect(given == ["https://a.example/?a,b;c", "https://b.example/"])
        #expect(try parse("serve --webhook http://c.example", environment).downloads.webhooks?.count == 1)
        #expect(try parse("serve").downloads.webhooks == nil)
        let nine = Array(repeating: ["--webhook", "https://a.example/?s3cret"], count: 9).flatMap(\.self)
        let tooMany = try #require(failure(["serve"] + nine))
        #expect(tooMany.contains("at most 8 times") && !tooMany.contains("s3cret"))
        #expect(failure(["serve", "--webhook", "ftp://s3cret"])?.contains("s3cret") == false)
        #expect(try parse("serve").downloads.webhookTypes == WebhookMessageType.selectable)
        #expect(
            try parse("serve --webhook-events service.degraded,download.failed").downloads.webhookTypes
                == [.downloadFailed, .serviceDegraded])
        for types in ["download", "download.failed,", "webhook.test", ""] {
            #expect(failure(["serve", "--webhook-events", types])?.contains("subscription.failed, service.degraded") == true)
        }
        #expect(
            failure(["serve", "--webhook-secret", "s3cret"])?.contains("it takes whsec_ and the base64 of 24 to 64 bytes") == true
        )
    }

    @Test("A shared store and shared files require each other, and keys")
    func fleet() throws {
        let keys = ["AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key"]
        let both = ["serve", "--store", "postgres://u:p%40ss@h/d", "--files", "s3://b"]
        let configuration = try CommandLineParser.parse(both, environment: keys).configuration
        #expect(configuration.downloads.database == "postgres://u:p%40ss@h/d")
        #expect(try configuration.downloads.objects == ObjectLocation(parsing: "s3://b"))
        #expect(configuration.downloads.objectCredentials != nil)
        #expect(configuration.downloads.lease == .seconds(15))
        #expect(!configuration.downloads.leavesFleet)
        #expect(failure(["serve", "--store", "postgres://h/d"], keys)?.contains("--store needs --files as well") == true)
        #expect(failure(["serve", "--files", "s3://b"], keys)?.contains("--files needs --store") == true)
        #expect(failure(both)?.contains("AWS_SECRET_ACCESS_KEY") == true)
        #expect(failure(both, ["AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "a key"])?.contains("a key") == false)
        #expect(failure(["serve", "--store", "mysql://u:s3cret@h/d"], keys)?.contains("s3cret") == false)
        #expect(failure(["serve", "--files", "s3://b?zone=1"], keys)?.contains("endpoint=URL") == true)
        for lease in ["2s", "61m", "15"] { #expect(failure(both + ["--lease", lease], keys)?.contains("--lease") == true) }
        let file = try CommandLineParser.parse(
            ["check", "--store-file", "/s", "--files", "s3://b"], environment: keys.merging(["PAWL_STORE": "postgres://h"]) { $1 }
        )
        #expect(file.configuration.storeFile == "/s")
        #expect(file.configuration.downloads.database == nil)
        #expect(try CommandLineParser.parse(["serve"], environment: keys).warnings.isEmpty)
    }

    @Test("A flag overrides its variable; the last of equal flags applies")
    func precedence() throws {
        #expect(try parse("serve --port 1", ["PAWL_PORT": "2"]).server.port == 1)
        #expect(try parse("serve --port 1 --port 3").server.port == 3)
        #expect(try parse("serve", ["PAWL_PORT": ""]).server.port == 8080)
        #expect(try !parse("serve --allow-private=false", ["PAWL_ALLOW_PRIVATE": "1"]).downloads.destinationGuard.allowsPrivate)
    }

    @Test("Repeatable options accumulate; flags replace the variable's list")
    func repeatable() throws {
        let environment = ["PAWL_CORS_ORIGIN": "https://a.example, https://b.example"]
        #expect(try parse("serve", environment).corsOrigins.count == 2)
        #expect(
            try parse("serve --cors-origin https://c.example:8443 --cors-origin=*", environment).corsOrigins
                == [.origin("https://c.example:8443"), .any])
    }

    @Test("Ignores even an invalid variable if its flag is given")
    func overruledVariable() throws {
        #expect(try parse("serve --port 1", ["PAWL_PORT": "nonsense"]).server.port == 1)
        #expect(failure(["serve"], ["PAWL_PORT": "nonsense"])?.contains("PAWL_PORT") == true)
    }

    @Test(
        "Reports unknown variables in one line, without their values",
        arguments: [
            (["PAWL_PRT": "s3cret"], "PAWL_PRT (did you mean PAWL_PORT?)"),
            (["PAWL_WHATEVER": "s3cret", "PAWL_OUTPUT": "s3cret"], "PAWL_OUTPUT, PAWL_WHATEVER"),
            (["PAWL_PORT": "1", "PAWL_TOKEN": "t", "PAWL_SPEED_LIMIT": "0"], nil),
            (["PAWL_SERVICE_HOST": "10.0.0.1", "PAWL_SERVICE_PORT_HTTP": "1", "PAWL_PORT_8080_TCP_ADDR": "10.0.0.1"], nil),
        ] as [([String: String], String?)])
    func unknownVariables(environment: [String: String], mentions: String?) throws {
        let warnings = try CommandLineParser.parse(["serve"], environment: environment).warnings
        #expect(warnings.count == (mentions == nil ? 0 : 1))
        #expect(warnings.allSatisfy { !$0.contains("s3cret") })
        if let mentions { #expect(warnings.first?.hasSuffix(mentions) == true, "\(warnings)") }
    }

    @Test("Ignores a port variable that Kubernetes derives from a service's name")
    func kubernetes() throws {
        #expect(try parse("serve", ["PAWL_PORT": "tcp://10.0.0.1:8080"]).server.port == 8080)
    }

    @Test(
        "A mistake is reported in one line with its name and the accepted values",
        arguments: [
            (["serve", "--prot", "1"], ["--prot", "--port?", "--host"]),
            (["serve", "--port", "x"], ["'x'", "--port", "0 to 65535"]),
            (["serve", "--port=65536"], ["'65536'", "0 to 65535"]),
            (["serve", "--port", "-1"], ["'-1'"]),
            (["serve", "--port", "+1"], ["'+1'"]),
            (["serve", "--port"], ["--port", "needs a value"]),
            (["serve", "--max-concurrent=0"], ["'0'", "1 to 1000"]),
            (["serve", "--segments=17"], ["1 to 16"]),
            (["serve", "--speed-limit=9223372036854775808"], ["0 or more"]),
            (["serve", "--host", "example.org"], ["'example.org'", "IP address"]),
            (["serve", "--log-level", "loud"], ["'loud'", "debug, info, warning, error"]),
            (["serve", "--log-format", "xml"], ["text, json"]),
            (["serve", "--cors-origin", "https://a.example/path"], ["--cors-origin", "https://example.org:8443"]),
            (["serve", "--allow-destination", "10.0.0.1/8"], ["--allow-destination", "10.0.0.0/8"]),
            (["serve", "--allowed-host", "a b"], ["--allowed-host"]),
            (["serve", "--trusted-proxy", "proxy.example"], ["--trusted-proxy"]),
            (["serve", "--trusted-proxy", "10.1.2.3/8"], ["--trusted-proxy"]),
            (["serve", "--base-path", "pawl"], ["--base-path"]), (["serve", "--base-path", "//pawl"], ["--base-path"]),
            (["serve", "--unix-socket", "/" + String(repeating: "s", count: 107)], ["--unix-socket"]),
            (["serve", "--itunes-url", "ftp://a.example"], ["http or https"]),
            (["serve", "--data-dir", ""], ["--data-dir", "a path"]),
            (["serve", "--allow-private=maybe"], ["true or false"]),
            (["serve", "extra"], ["'extra'"]),
            (["serve", "--bad\nflag"], ["--bad?flag"]),
            (["serve", "--host", "0.0.0.0"], ["0.0.0.0", "--token", "--no-auth"]),
            (["serve", "--host", "::"], ["--token"]),
            (["serve", "--webhook", "http://10.0.0.1/x"], ["--webhook", "10.0.0.1", "--allow-destination"]),
            (["serve", "--webhook", "http://a.example", "--deny-destination", "a.example"], ["--webhook", "a.example"]),
            (["serv"], ["'serv'", "serve?", "demo"]),
            (["--port", "1"], ["'--port'", "serve"]),
            (["get"], ["URL"]),
            (["get", "-o", "f", "http://a.example/1", "http://a.example/2"], ["--output"]),
            (["get", "example.org/x"], ["'example.org/x'", "http or https"]),
            (["get", "ftp://a.example/x"], ["'ftp://a.example/x'", "only http and https"]),
            (["help", "serv"], ["'serv'", "serve?"]),
            (["get", "--max-per-hots", "1", "http://a.example/"], ["--max-per-host?"]),
            (["health", "--token", "x"], ["--token"]),
            (["get", "--checksum", "sha-256:12", "http://a.example/"], ["'sha-256:12'", "sha-512"]),
            (
                ["get", "--checksum", "md5:d41d8cd98f00b204e9800998ecf8427e", "http://a.example/1", "http://a.example/2"],
                ["one URL"]
            ),
            (["get", "--limit", "fast", "http://a.example/"], ["'fast'", "such as 2M"]),
            (["get", "-x", "17", "http://a.example/"], ["'17'", "1 to 16"]),
            (["add"], ["nothing to add"]),
            (["add", "0"], ["'0'", "3 or 2-4", "itunes:263301273"]),
            (["add", "2-1001"], ["'2-1001'"]),
            (["add", "example.org/x"], ["'example.org/x'", "http or https"]),
            (["add", "--format", "", "a:1"], ["--format"]),
            (["add", "-l", String(repeating: "x", count: 201), "a:1"], ["--label", "1 to 200 characters"]),
            (["parts"], ["one result", "one item"]),
            (["parts", "1", "2"], ["one result"]),
            (["parts", "1-2"], ["one result"]),
            (["parts", "http://a.example/"], ["one item"]),
            (["move", "01M7"], ["an ID and a position"]),
            (["move", "01M7", "0"], ["which starts next"]),
            (["move", "01M7", "+1"], ["a position"]),
            (["move", "", "1"], ["an ID"]),
            (["move", "01M7", "99999999999999999999"], ["a position"]),
            (["add", "4-2"], ["'4-2'"]),
            (["add", "ftp://a.example/"], ["only http and https"]),
            (["add", "-o", "a/b", "http://a.example/"], ["'a/b'", "without slashes"]),
            (["list", "extra"], ["'extra'"]),
            (["list", "--state", "done"], ["'done'", "completed"]),
            (["list", "--server", "localhost:8080"], ["'localhost:8080'", "http or https"]),
            (["list", "-l", "a", "-l", "b"], ["--label", "more than once"]),
            (["pause", "--folder", "a", "01M7"], ["--folder", "--all"]),
            (["add", "--folder", "/a", "http://a.example/"], ["--folder"]),
            (["pause"], ["IDs", "--all"]),
            (["rm"], ["IDs"]),
            (["cancel", "--all", "01A"], ["not both"]),
            (["cancel", "-l", "a", "01A"], ["--all"]),
            (["search"], ["search for"]),
            (["subscribe"], ["one http or https URL", "one result", "itunes:5000910100"]),
            (["subscribe", "1", "2"], ["one http or https URL"]), (["subscribe", "1-2"], ["'1-2'", "one result"]),
            (["subscribe", "example.org/show.xml"], ["'example.org/show.xml'", "http or https URLs"]),
            (["subscribe", "--take", "latest", "1"], ["'latest'", "latest:5"]),
            (["subscribe", "--take", "latest:0", "1"], ["'latest:0'"]), (["subscribe", "--take", "+1", "1"], ["'+1'"]),
            (["subscribe", "--take", "latest:+5", "1"], ["'latest:+5'"]), (["subscribe", "--take", "all:1", "1"], ["'all:1'"]),
            (["subscribe", "--take", "latest:20001", "1"], ["N from 1 to 20000"]),
            (["subscribe", "--keep", "0", "1"], ["'0'", "1 to 20000"]),
            (["subscribe", "--every", "4m", "1"], ["'4m'", "from 5m to 366d"]),
            (["subscribe", "--every", "53w", "1"], ["'53w'"]),
            (["subscribe", "--include", "", "1"], ["--include", "1 to 200 characters"]),
            (["subscribe", "1"] + Array(repeating: "--exclude=x", count: 65), ["--exclude", "at most 64 times"]),
            (["refresh"], ["nothing to refresh", "pawl subscriptions"]), (["unsubscribe"], ["nothing to unsubscribe"]),
            (["subscriptions", "01M7"], ["'01M7'", "options only"]), (["refresh", "--all"], ["--all"]),
            (["completions"], ["bash, zsh, fish"]),
            (["completions", "tcsh"], ["bash, zsh, fish", "'tcsh'"]),
            (["list"] + ["--all"], ["--all"]),
        ])
    func mistakes(arguments: [String], mentions: [String]) throws {
        let line = try #require(failure(arguments))
        for mention in mentions { #expect(line.contains(mention), "\(line)") }
        #expect(!line.contains("\n"))
        #expect(line.hasPrefix("pawl: "))
    }

    @Test("A bad value in the environment is reported with its variable")
    func badVariable() {
        #expect(failure(["serve"], ["PAWL_MAX_CONCURRENT": "many"])?.contains("PAWL_MAX_CONCURRENT") == true)
    }

    @Test("Does not repeat refused secrets")
    func secrets() throws {
        let line = try #require(failure(["serve", "--token", "se cret"]))
        #expect(line.contains("--token"))
        #expect(!line.contains("cret"))
        for flags in [
            ["--header", "s3cret"], ["--header", "Range: s3cret"], ["--header", "X: s3cret", "-H", "x: s3cret"],
            ["--header", ": s3cret"], ["--header", "X: s3cret\n1"], ["--user", "s3cret"], ["--user", "a:s3cret\n"],
            ["--user", "a:s3cret", "--header", "Authorization: s3cret"],
        ] {
            for command in ["get", "add"] {
                let line = try #require(failure([command, "http://a.example/"] + flags))
                #expect(line.contains("--header") || line.contains("--user"))
                #expect(!line.contains("s3cret"))
            }
        }
    }

    @Test("Reads headers, and a user with a password as curl does")
    func headers() throws {
        let invocation = try CommandLineParser.parse(
            ["get", "-H", "X-Key:  a: b ", "--header=Cookie: c=d", "-u", "ada:s3:cret", "http://a.example/"], environment: [:])
        #expect(
            invocation.headers.map { "\($0.name): \($0.value)" }
                == ["X-Key: a: b", "Cookie: c=d", "Authorization: Basic YWRhOnMzOmNyZXQ="])
        #expect(!"\(invocation.headers)".contains("YWRh"))
    }

    @Test(
        "Serving other machines requires a token or --no-auth",
        arguments: [
            "--token 0123456789abcdef", "--token-file f", "--tokens-file f", "--no-auth",
        ])
    func beyondLoopback(flags: String) throws {
        #expect(try parse("serve --host 0.0.0.0 \(flags)").server.host == "0.0.0.0")
        #expect(try parse("serve --host 127.9.9.9").server.host == "127.9.9.9")
        #expect(try parse("serve --host [::1]").server.host == "::1")
        #expect(try parse("serve --host LocalHost").server.host == "localhost")
    }

    @Test("A short token is refused for other machines, with a hint for a longer one", arguments: ["0.0.0.0", "::"])
    func shortToken(host: String) throws {
        for command in ["serve", "demo"] {
            let line = try #require(failure([command, "--host", host, "--token", "0123456789abcde", "--no-auth"]))
            #expect(line.contains("--token"))
            #expect(line.contains("16 or more"))
            #expect(line.contains("openssl rand -hex 32"))
            #expect(!line.contains("0123456789"))
        }
        #expect(try parse("serve --host 127.0.0.1 --token t").token != nil)
    }

    @Test("get accepts flags before and after URLs, short ones too")
    func get() throws {
        let invocation = try CommandLineParser.parse(
            ["get", "-d", "dir", "http://a.example/1", "--segments=2", "http://a.example/2", "--", "http://a.example/-"],
            environment: [:])
        #expect(invocation.command == .get)
        #expect(invocation.operands == ["http://a.example/1", "http://a.example/2", "http://a.example/-"])
        #expect(invocation.directory == "dir")
        #expect(invocation.configuration.downloads.segments == 2)
        #expect(invocation.configuration.logLevel == .warning)
        #expect(
            try CommandLineParser.parse(["get", "http://a.example/1", "-o", "x"], environment: [:]).output == "x")
    }

    @Test("A short flag's value is attached to it or follows it")
    func shortFlags() throws {
        let invocation = try CommandLineParser.parse(
            ["get", "-x8", "-dmusic", "-o", "x", "--limit=1.5M", "http://a.example/1"], environment: ["PAWL_SPEED_LIMIT": "1"])
        #expect(invocation.configuration.downloads.segments == 8)
        #expect(invocation.directory == "music")
        #expect(invocation.output == "x")
        #expect(invocation.configuration.downloads.speedLimit == 1_572_864)
        #expect(
            try CommandLineParser.parse(["get", "http://a.example/"], environment: ["PAWL_SPEED_LIMIT": "2k"]).configuration
                .downloads.speedLimit == 2048)
        #expect(
            try CommandLineParser.parse(["get", "--speed-limit", "5", "http://a.example/"], environment: [:]).configuration
                .downloads.speedLimit == 5)
    }

    @Test("A label is limited in characters, as in the service")
    func labels() throws {
        for character in ["x", "é", "日", "🎧"] {
            for command in ["add", "subscribe"] {
                let label = String(repeating: character, count: 200)
                let invocation = try CommandLineParser.parse([command, "--label", label, "http://h/a"], environment: [:])
                #expect(invocation.client.labels == [label])
                #expect(failure([command, "--label", label + character, "http://h/a"])?.contains("200 characters") == true)
            }
        }
        for label in ["", "a\tb", "a\u{7F}"] {
            #expect(failure(["add", "--label", label, "http://h/a"])?.contains("--label") == true)
        }
    }

    @Test("Client commands read address and token from the environment")
    func clients() throws {
        let invocation = try CommandLineParser.parse(
            ["add", "3", "2-4", "http://a.example/", "-l", "a", "-l", "b", "--priority", "-5", "--paused"],
            environment: ["PAWL_SERVER": "https://pawl.example/base", "PAWL_TOKEN": "t0ken"])
        #expect(invocation.client.server.string == "https://pawl.example/base")
        #expect(invocation.configuration.token?.authorization == "Bearer t0ken")
        #expect(invocation.client.labels == ["a", "b"])
        #expect(invocation.client.folder == nil)
        for (text, folder) in [("music/live", "music/live"), ("", "")] {
            #expect(try CommandLineParser.parse(["list", "--folder", text], environment: [:]).client.folder == folder)
            #expect(
                try CommandLineParser.parse(["cancel", "--all", "--folder=\(text)"], environment: [:]).client.folder == folder)
        }
        #expect(invocation.client.priority == -5)
        #expect(invocation.client.startsPaused)
        let operands = try URLList.operands(of: invocation)
        #expect(operands.prefix(2) == [.results(3...3), .results(2...4)])
        #expect(try CommandLineParser.parse(["list"], environment: [:]).client.server.string == "http://127.0.0.1:8080/")
        #expect(try CommandLineParser.parse(["watch"], environment: [:]).operands.isEmpty)
    }

    @Test(
        "add accepts URLs, numbers, ranges and ids",
        arguments: [
            ("3", .results(3...3)), ("2-5", .results(2...5)), ("1-1000", .results(1...1000)), ("5-2", nil), ("1-1001", nil),
            ("0-1", nil), ("2-", nil), ("-2", nil), ("2-5-7", nil), ("", nil), ("99999999999999999999", nil),
            ("itunes:263301273", .item("itunes:263301273")), ("archive:a-1/b c:d.mp3", .item("archive:a-1/b c:d.mp3")),
            ("itunes:collection:7", .item("itunes:collection:7")), ("itunes:", nil), (":1", nil), ("Itunes:1", nil),
            ("a b:1", nil),
            ("ftp://a.example/", nil), ("http:a", nil), ("https:/a", nil), ("example.org", nil), ("archive.org:80/x", nil),
        ] as [(String, DownloadOperand?)])
    func operands(text: String, operand: DownloadOperand?) throws {
        #expect(DownloadOperand(text) == operand)
        let url = try #require(HTTPURL("http://a.example/"))
        #expect(DownloadOperand("http://a.example/") == .url(url))
    }

    @Test("Formats accumulate; a label can hold a work's id")
    func works() throws {
        let invocation = try CommandLineParser.parse(
            ["add", "a:1", "--format", "Flac", "--format=VBR MP3", "-l", String(repeating: "x", count: 200)], environment: [:])
        #expect(invocation.client.formats == ["Flac", "VBR MP3"])
        #expect(invocation.client.labels.count == 1)
        for operand in ["3", "archive:x"] {
            #expect(try CommandLineParser.parse(["parts", operand], environment: [:]).operands == [operand])
        }
        #expect(try CommandLineParser.parse(["move", "01M7", "2"], environment: [:]).operands == ["01M7", "2"])
    }

    @Test("subscribe reads what to take, how much to keep, and when to check")
    func subscribing() throws {
        let line = ["subscribe", "--take", "latest:5", "--keep=20", "--every", "2h", "--include", "*a*", "--include", "b?"]
        let options = try CommandLineParser.parse(
            line + ["--exclude", "c", "-l", "x", "--folder", "shows", "https://a.example/show.xml"], environment: [:]
        ).client
        #expect(options.take == .latest(5))
        #expect(options.keep == 20)
        #expect(options.every == .seconds(7200))
        #expect(options.include == ["*a*", "b?"])
        #expect(options.exclude == ["c"])
        #expect(options.labels == ["x"])
        #expect(options.folder == "shows")
        for (text, take) in [("new", .new), ("all", .all)] as [(String, ClientOptions.Backlog)] {
            for operand in ["3", "itunes:1", "feed:https://a.example/show.xml"] {
                #expect(
                    try CommandLineParser.parse(["subscribe", operand, "--take", text], environment: [:]).client.take == take)
            }
        }
        #expect(try CommandLineParser.parse(["subscribe", "1"], environment: [:]).client.take == nil)
        #expect(try CommandLineParser.parse(["refresh", "01M7", "01M8"], environment: [:]).operands == ["01M7", "01M8"])
        #expect(try CommandLineParser.parse(["subscriptions", "--ids"], environment: [:]).client.writesIDsOnly)
    }

    @Test("A mode is three or four octal digits with the required bits, and without execution")
    func modes() throws {
        func permissions(_ arguments: [String], _ environment: [String: String] = [:]) throws -> FilePermissions {
            try CommandLineParser.parse(["serve"] + arguments, environment: environment).configuration.downloads.filePermissions
        }
        #expect(try permissions([]) == FilePermissions())
        for (text, mode) in [("0640", 0o640), ("640", 0o640), ("0600", 0o600), ("0666", 0o666)] as [(String, UInt32)] {
            #expect(try permissions(["--file-mode", text]).file == mode)
            #expect(try permissions([], ["PAWL_FILE_MODE": text]).file == mode)
        }
        for (text, mode) in [("0750", 0o750), ("700", 0o700), ("2770", 0o2770), ("0777", 0o777)] as [(String, UInt32)] {
            #expect(try permissions(["--directory-mode", text]).directory == mode)
        }
        for text in [
            "", "0", "64", "00640", "0o640", "0840", "0400", "0240", "0000", "0644 ", "+640", "0700", "0755", "4644", "rw-r-----",
        ] {
            #expect(throws: UsageError.self, "\(text)") { try permissions(["--file-mode", text]) }
        }
        for text in ["", "0600", "0500", "0000", "1777", "4755", "6750", "07777", "0o750", "abc"] {
            #expect(throws: UsageError.self, "\(text)") { try permissions(["--directory-mode", text]) }
        }
        let configuration = try CommandLineParser.parse(["check", "--downloads-dir", "/volume"], environment: [:]).configuration
        #expect(configuration.downloads.downloadsDirectory == "/volume")
        #expect(try permissions([]) == FilePermissions())
    }

    @Test("Finds help and version in every spelling")
    func helpAndVersion() throws {
        for arguments in [[], ["help"], ["--help"], ["-h"], ["serve", "--help"], ["get", "-h"]] {
            #expect(try CommandLineParser.parse(arguments, environment: [:]).command == .help)
        }
        for arguments in [["--version"], ["-V"], ["version"], ["serve", "--version"]] {
            #expect(try CommandLineParser.parse(arguments, environment: [:]).command == .version)
        }
    }

    @Test("The help lists every option and command")
    func help() {
        let text = Help.text(for: .help)
        for option in OptionTable.all { #expect(text.contains("  " + option.flag)) }
        for command in CommandName.allCases {
            #expect(text.contains("  " + command.rawValue))
            #expect(text.contains("  pawl " + command.rawValue))
        }
    }

    @Test("The help of a command lists its options only", arguments: [CommandName.serve, .demo, .get, .check, .health])
    func helpOfCommand(command: CommandName) throws {
        for arguments in [["help", command.rawValue], [command.rawValue, "--help"], [command.rawValue, "-h", "--nonsense"]] {
            #expect(try CommandLineParser.parse(arguments, environment: [:]).topic == command)
        }
        let lines = Help.text(for: command).split(separator: "\n")
        let flags = lines.compactMap { line in line.hasPrefix("  --") ? String(line.dropFirst(2).prefix { $0 != " " }) : nil }
        #expect(flags == OptionTable.options(of: command).map(\.flag))
    }
}
