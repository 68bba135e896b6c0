import CPostgres
import Foundation
import TestSupport
import Testing

@testable import Postgres

struct LibraryTests {
    @Test("A missing library is one clear line")
    func missing() throws {
        let error = #expect(throws: PostgresError.self) { try PostgresLibrary.load("libpq-that-nobody-has.so.5") }
        let message = try #require(error?.library)
        #expect(message.hasPrefix("libpq-that-nobody-has.so.5 cannot be loaded: install libpq5 (Debian)"))
        #expect(message.contains("No such file"))
        #expect(!message.contains("\n"))
    }

    @Test(
        "Accepts a library of version 14 or newer, and names the fault of others",
        arguments: [
            (PAWL_LIBPQ_LOADED, 14_00_00, nil), (PAWL_LIBPQ_LOADED, 18_00_03, nil),
            (PAWL_LIBPQ_INCOMPLETE, 13_00_04, "libpq 13.4 is too old: 14 or newer is needed"),
            (PAWL_LIBPQ_LOADED, 13_00_23, "libpq 13.23 is too old: 14 or newer is needed"),
            (PAWL_LIBPQ_INCOMPLETE, 9_06_24, "libpq 9.6.24 is too old: 14 or newer is needed"),
            (PAWL_LIBPQ_INCOMPLETE, 0, "libpq.so.5 has no function PQx: libpq 14 or newer is needed"),
            (PAWL_LIBPQ_INCOMPLETE, 15_00_00, "libpq.so.5 has no function PQx: libpq 14 or newer is needed"),
            (
                PAWL_LIBPQ_NOT_FOUND, 0,
                "libpq.so.5 cannot be loaded: install libpq5 (Debian), libpq (Alpine, Homebrew) or postgresql-libs (PQx)"
            ),
        ] as [(pawl_libpq_outcome, Int32, String?)])
    func refusals(outcome: pawl_libpq_outcome, version: Int32, refusal: String?) {
        #expect(PostgresLibrary.refusal(outcome, version: version, name: "libpq.so.5", reason: "PQx") == refusal)
    }
}

/// CPostgres has its own declarations of libpq. If libpq's header is installed, a C compiler compares the two.
@Suite(.timeLimit(.minutes(3)))
struct LibpqHeaderTests {
    private static let include: String? = [
        "/usr/include/postgresql", "/usr/include", "/usr/local/include", "/opt/homebrew/include",
    ]
    .first { FileManager.default.fileExists(atPath: $0 + "/libpq-fe.h") }

    private static let ours = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/CPostgres/include").standardizedFileURL

    @Test(
        "Every constant, layout and function equals libpq's declaration",
        .enabled(if: include != nil, "libpq's header is not installed"))
    func sameAsLibpq() throws {
        let include = try #require(Self.include)
        let header = try String(contentsOf: Self.ours.appending(path: "CPostgres.h"), encoding: .utf8)
        let constants = header.matches(of: /(?m)^ +([A-Z_]+) = ([0-9]+),$/)
        #expect(constants.count == 17)
        var program = "#include <stddef.h>\n#include <libpq-fe.h>\n"
        for constant in constants {
            program += "_Static_assert((int)\(constant.1) == \(constant.2), \"\(constant.1)\");\n"
        }
        // CPostgres' structures under other names.
        for name in ["PQconninfoOption", "PGnotify"] {
            let body = try #require(
                header.firstMatch(
                    of: try Regex("typedef struct[ A-Za-z]* \\{([^}]*)\\} \(name);", as: (Substring, Substring).self)))
            program +=
                "typedef struct our_\(name) {\(body.1.replacing("struct PGnotify", with: "struct our_\(name)"))} our_\(name);\n"
            program += "_Static_assert(sizeof(\(name)) == sizeof(our_\(name)), \"\(name)\");\n"
            for field in body.1.matches(of: /([a-z_]+);/) {
                program += "_Static_assert(offsetof(\(name), \(field.1)) == offsetof(our_\(name), \(field.1)), \"\(field.1)\");\n"
            }
        }
        program += """
            #define FUNCTION(result, name, parameters, arguments) static result(*check_##name) parameters = name;
            #include "functions.h"

            """
        let directory = try TemporaryDirectory()
        let source = directory.path + "/libpq.c"
        try program.write(toFile: source, atomically: true, encoding: .utf8)
        let compiler = TestProcess()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = [
            "cc", "-Werror", "-Wno-unused-variable", "-fsyntax-only", "-I", include, "-I", Self.ours.path, source,
        ]
        let output = Pipe()
        compiler.standardError = output
        try compiler.run()
        let complaints = output.fileHandleForReading.readDataToEndOfFile()
        compiler.waitUntilExit()
        #expect(compiler.terminationStatus == 0, "\(String(decoding: complaints, as: UTF8.self))")
    }
}
