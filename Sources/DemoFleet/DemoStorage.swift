internal import HTTPClient
internal import ObjectStorage
internal import PawlConfiguration
internal import System

/// An S3-compatible service of the fleet's own, on a port of 127.0.0.1. Its data stays in a directory.
struct DemoStorage {
    /// The name of the key that may do everything.
    static let accessKeyID = "pawl-demo"

    let program: InstalledPrograms.Storage
    /// The directory that holds all of it.
    let directory: String
    /// That one's key.
    let secretAccessKey: String
    let port: Int
    /// What the program gets besides its own variables.
    let environment: [String: String]

    /// As replicas are told of it.
    var location: String { "s3://pawl?endpoint=http://127.0.0.1:\(port)" }

    /// The server.
    var server: ChildProcess.Program {
        let address = "127.0.0.1:\(port)"
        switch program {
        case .juicefs(let path):
            return run(
                path,
                [
                    "gateway", "--no-usage-report", "--no-bgjob", "--backup-meta", "0", "--cache-dir", "memory", "--cache-size",
                    "0",
                    "--log", "log", "--metrics", "127.0.0.1:0", "--multi-buckets", "--keep-etag", "--object-meta", Self.records,
                    address,
                ])
        case .minio(let path):
            return run(path, ["server", "--address", address, "data"])
        }
    }

    private static let records = "sqlite3://records.db"

    /// Makes what the server needs, if it isn't there yet.
    /// - Throws: one line that says why that is not possible.
    func prepare() async throws(StartError) {
        do {
            try SmallFile.makeDirectory(directory)
            try Directory(opening: directory).setPermissions(0o700)
        } catch {
            throw StartError("cannot prepare \(directory): \(error)")
        }
        guard case .juicefs(let path) = program else { return }
        // What is there stays as it is. The path is kept in the records, so it must not depend on where this was started.
        let data = ProcessEnvironment.absolutePath(directory) + "/data"
        try await ProgramRun.finish(
            run(
                path, ["format", "--no-update", "--trash-days", "0", "--storage", "file", "--bucket", data, Self.records, "pawl"])
        )
    }

    /// Whether it serves, with its one bucket, which is made if it isn't there.
    func hasBucket(_ client: HTTPClient) async -> Bool {
        guard let location = try? ObjectLocation(parsing: location),
            let credentials = ObjectCredentials(accessKeyID: Self.accessKeyID, secretAccessKey: secretAccessKey)
        else { return false }
        var limits = ObjectStorageLimits()
        limits.tries = 1
        limits.smallRequestTimeout = .seconds(5)
        let storage = ObjectStorage(location, credentials: credentials, client: client, limits: limits)
        return (try? await storage.createBucket()) != nil
    }

    private func run(_ path: String, _ arguments: [String]) -> ChildProcess.Program {
        let own = [
            "MINIO_ROOT_USER": Self.accessKeyID, "MINIO_ROOT_PASSWORD": secretAccessKey,
            // No console on a port of all addresses, and no look for updates.
            "MINIO_BROWSER": "off", "MINIO_UPDATE": "off",
        ]
        return ChildProcess.Program(
            path, arguments, environment: environment.merging(own) { $1 }, directory: directory)
    }
}
