import CCurl
import Foundation
import TestSupport
import Testing

/// CCurl has its own declarations of libcurl. If libcurl's headers are installed, a C compiler compares the two.
@Suite(.timeLimit(.minutes(3)))
struct CurlConstantsTests {
    static let includeDirectory: String? = {
        var candidates = ["/usr/include", "/usr/local/include"]
        if let extra = ProcessInfo.processInfo.environment["PAWL_CURL_INCLUDE"] { candidates.insert(extra, at: 0) }
        for directory in (try? FileManager.default.contentsOfDirectory(atPath: "/usr/include")) ?? [] {
            candidates.append("/usr/include/" + directory)
        }
        return candidates.first { FileManager.default.fileExists(atPath: $0 + "/curl/curl.h") }
    }()

    static var header: String {
        get throws {
            let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            return try String(contentsOf: root.appending(path: "Sources/CCurl/include/CCurl.h"), encoding: .utf8)
        }
    }

    static var constants: [(name: String, value: String)] {
        get throws {
            try header.split(separator: "\n").compactMap { line in
                let parts = line.trimmingCharacters(in: [" ", ","]).components(separatedBy: " = ")
                guard parts.count == 2, parts[0].hasPrefix("CURL"), Int(parts[1]) != nil else { return nil }
                return (parts[0], parts[1])
            }
        }
    }

    @Test("Reads the header's constants")
    func headerConstantsAreRead() throws {
        let constants = try Self.constants
        #expect(constants.count > 100)
        #expect(constants.contains { $0 == ("CURLOPT_URL", "10002") })
        #expect(Set(constants.map(\.name)).count == constants.count)
    }

    @Test(
        "Every constant and layout equals libcurl's", .enabled(if: includeDirectory != nil, "libcurl's headers are not installed")
    )
    func constantsMatchLibcurl() throws {
        let include = try #require(Self.includeDirectory)
        var program = "#include <stddef.h>\n#include <curl/curl.h>\n"
        for constant in try Self.constants {
            program += "_Static_assert((long)\(constant.name) == \(constant.value)L, \"\(constant.name)\");\n"
        }
        // The two structures that are shared, field by field.
        program += """
            struct address { int family; int socktype; int protocol; unsigned int addrlen; struct sockaddr addr; };
            struct message { int kind; void *easy; union { void *whatever; int result; } data; };
            #define SAME(a, b, f, g) _Static_assert(offsetof(a, f) == offsetof(b, g) && sizeof ((a *)0)->f == sizeof ((b *)0)->g, #f)
            SAME(struct curl_sockaddr, struct address, family, family);
            SAME(struct curl_sockaddr, struct address, socktype, socktype);
            SAME(struct curl_sockaddr, struct address, protocol, protocol);
            SAME(struct curl_sockaddr, struct address, addrlen, addrlen);
            SAME(struct curl_sockaddr, struct address, addr, addr);
            SAME(CURLMsg, struct message, msg, kind);
            SAME(CURLMsg, struct message, easy_handle, easy);
            SAME(CURLMsg, struct message, data, data);
            _Static_assert(sizeof(CURLcode) == sizeof(int) && sizeof(CURLoption) == sizeof(int), "enums");
            _Static_assert(sizeof(curl_off_t) == 8, "curl_off_t");
            curl_opensocket_callback open_socket; curl_prereq_callback prerequest;

            """
        let directory = try TemporaryDirectory()
        let source = directory.path + "/constants.c"
        try program.write(toFile: source, atomically: true, encoding: .utf8)
        let compiler = TestProcess()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = ["cc", "-Wno-deprecated-declarations", "-fsyntax-only", "-I", include, source]
        let output = Pipe()
        compiler.standardError = output
        try compiler.run()
        let complaints = output.fileHandleForReading.readDataToEndOfFile()
        compiler.waitUntilExit()
        #expect(compiler.terminationStatus == 0, "\(String(decoding: complaints, as: UTF8.self))")
    }
}
