import Foundation
import HTTPCore
import JSON
import PawlConfiguration
import TestSupport
import Testing

@testable import PawlService

@Suite("aria2's methods in XML", .timeLimit(.minutes(3)))
struct Aria2XMLTests {
    private static let type = [("Content-Type", "text/xml")]

    private func message(_ method: String, _ values: [String]) -> [UInt8] {
        let parameters = values.map { "<param><value>\($0)</value></param>" }.joined()
        return Array(
            "<?xml version='1.0'?>\n<methodCall><methodName>\(method)</methodName><params>\(parameters)</params></methodCall>\n"
                .utf8)
    }

    /// The response to a call, without the tags around its result.
    private func call(
        _ running: RunningService, _ method: String, _ values: String..., path: String = "/rpc",
        fields: [(String, String)] = Self.type
    ) async throws -> String {
        let response = try await running.send("POST", path, fields: fields, body: message(method, values))
        #expect(response.status == 200 && response["content-type"] == "text/xml", "\(response.text)")
        #expect(
            response.text.hasPrefix("<?xml version=\"1.0\"?><methodResponse>") && response.text.hasSuffix("</methodResponse>"))
        return response.text.dropFirst("<?xml version=\"1.0\"?><methodResponse>".count).dropLast("</methodResponse>".count)
            .replacing("<params><param><value>", with: "").replacing("</value></param></params>", with: "")
    }

    private func fault(_ message: String) -> String {
        "<fault><value><struct><member><name>faultCode</name><value><int>1</int></value></member>"
            + "<member><name>faultString</name><value><string>\(message)</string></value></member></struct></value></fault>"
    }

    @Test("Adds, reports and removes a download at /rpc, and at /jsonrpc if the media type says so")
    func life() async throws {
        try await RunningService.with { running in
            let uris =
                "<array><data><value><nil/></value><value><string>\(running.upstreamURL)/entity?size=30&amp;seed=1</string></value></data></array>"
            let options = { (members: String) in "<struct>\(members)</struct>" }
            let member = { (name: String, value: String) in "<member><name>\(name)</name><value>\(value)</value></member>" }
            for (number, (path, fields)) in [
                ("/rpc", Self.type), ("/rpc", []), ("/rpc", [("Content-Type", "application/x-www-form-urlencoded")]),
                ("/jsonrpc", Self.type), ("/jsonrpc", [("Content-Type", "Application/XML; charset=utf-8")]),
            ].enumerated() {
                let gid = "00000000000000a\(number)"
                let given = options(
                    member("gid", gid) + member("pause", "<string>true</string>") + member("dir", "<nil/>")
                        + member("out", "./é&amp;\(number).bin"))
                #expect(
                    try await call(running, "aria2.addUri", uris, given, "<int>0</int>", path: path, fields: fields)
                        == "<string>\(gid)</string>")
            }
            let waiting = try await call(
                running, "aria2.tellWaiting", "<i4>0</i4>", "<int>10</int>", "<array><data><value>gid</value></data></array>")
            #expect(
                waiting.components(separatedBy: "<string>").dropFirst().map { $0.prefix(16).suffix(1) } == [
                    "4", "3", "2", "1", "0",
                ])
            #expect(try await call(running, "aria2.unpause", "00000000000000a0") == "<string>00000000000000a0</string>")
            let status = try await running.status("complete", of: "00000000000000a0")
            #expect(status["files"]?.array?.first?["path"]?.string?.hasSuffix("/files/é&0.bin") == true)
            let files = try await call(running, "aria2.getFiles", "<base64>MDAwMDAwMDAwMDAwMDBhMA==</base64>")
            #expect(files.contains("/files/é&amp;0.bin</string>") && files.contains("seed=1</string>"))
            #expect(try await call(running, "aria2.removeDownloadResult", "00000000000000a0") == "<string>OK</string>")
            #expect(try await call(running, "aria2.tellStatus", "00000000000000a0") == fault("GID 00000000000000a0 is not found"))
            #expect(
                try await call(running, "aria2.changePosition", "00000000000000a1", "<int>0</int>", "POS_SET") == "<int>0</int>")
        }
    }

    @Test("Errors are faults with the message of JSON-RPC and code 1")
    func faults() async throws {
        try await RunningService.with { running in
            #expect(try await call(running, "aria2.nope&lt;") == fault("No such method: aria2.nope&lt;"))
            #expect(try await call(running, "aria2.tellStatus") == fault("The parameter at 0 is required but missing."))
            #expect(try await call(running, "aria2.addUri", "x") == fault("The parameter at 0 has wrong type."))
            #expect(
                try await call(
                    running, "aria2.addUri", "<array/>",
                    "<struct><member><name>split</name><value><double>1.5</double></value></member></struct>"
                ).contains("'--split'"))
            for body in ["", "garbage", "<methodCall>", #"{"id":1,"method":"aria2.getVersion"}"#] {
                let response = try await running.send("POST", "/rpc", body: Array(body.utf8))
                #expect(response.status == 200 && response["content-type"] == "text/xml")
                #expect(response.text.contains(fault("Parse error.")), "\(body)")
            }
            let calls = ["aria2.getGlobalStat", "aria2.nope", "system.multicall"].map {
                "<value><struct><member><name>methodName</name><value>\($0)</value></member></struct></value>"
            }
            let results = try await call(running, "system.multicall", "<array><data>\(calls.joined())<value/></data></array>")
            #expect(results.hasPrefix("<array><data><value><array><data><value><struct><member><name>downloadSpeed</name>"))
            for message in [
                "No such method: aria2.nope", "Recursive system.multicall forbidden.", "system.multicall expected struct.",
            ] {
                #expect(results.contains("<value><string>\(message)</string></value></member></struct></value>"))
            }
            #expect(try await call(running, "system.listMethods").contains("<value><string>system.multicall</string></value>"))
            #expect(
                try await call(running, "system.listNotifications").contains(
                    "<value><string>aria2.onDownloadStart</string></value>"))
        }
    }

    @Test("Takes POST alone, only within the limits, and no page of another site without a token")
    func rules() async throws {
        try await RunningService.with { running in
            let get = try await running.send("GET", "/rpc")
            #expect(get.status == 405 && get["allow"] == "POST, OPTIONS")
            #expect(try await running.send("OPTIONS", "/rpc")["allow"] == "POST, OPTIONS")
            for path in ["/rpc/", "/RPC2", "/rpc/x"] { #expect(try await running.send("POST", path, body: []).status == 404) }
            let body = message("aria2.getVersion", [])
            let origin = [("Origin", "https://evil.example"), ("Content-Type", "text/plain")]
            #expect(try await running.send("POST", "/rpc", fields: origin, body: body).status == 403)
            let large = message("aria2.getVersion", [String(repeating: "x", count: 1 << 20)])
            #expect(try await running.send("POST", "/rpc", body: large).status == 413)
            let many = message("system.multicall", ["<array><data>\(String(repeating: "<value/>", count: 4_097))</data></array>"])
            #expect(try await running.send("POST", "/rpc", body: many).text.contains("at most 4096 calls"))
        }
        try await RunningService.with {
            $0.leavesOutAria2 = true
        } _: { running in
            let response = try await running.send("POST", "/rpc", body: message("aria2.getVersion", []))
            #expect(response.status == 404)
        }
    }

    @Test("Requires the secret of each call, and answers a wrong one a second late")
    func secrets() async throws {
        try await RunningService.with {
            $0.token = AccessToken("s3cret-token")
        } _: { running in
            for secret in [
                "token:s3cret-token", "<string>token:s3cret-token</string>", "<base64>dG9rZW46czNjcmV0LXRva2Vu</base64>",
            ] {
                #expect(try await call(running, "aria2.getSessionInfo", secret).contains("sessionId"))
            }
            for values in [[], ["token:wrong"], ["s3cret-token"]] {
                let begun = ContinuousClock.now
                let response = try await running.send("POST", "/rpc", body: message("aria2.getVersion", values))
                #expect(response.status == 200 && response.text.contains(fault("Unauthorized")))
                #expect(ContinuousClock.now - begun >= .seconds(1))
            }
            #expect(try await call(running, "system.listMethods").contains("aria2.addUri"))
            // A long message is read at once only with the right secret.
            let uris =
                "<array><data><value>\(running.upstreamURL)/entity?\(String(repeating: "x", count: 4_000))</value></data></array>"
            let given = "<struct><member><name>pause</name><value>true</value></member></struct>"
            #expect(try await call(running, "aria2.addUri", "token:s3cret-token", uris, given).hasPrefix("<string>"))
        }
    }
}
