internal import HTTPClient
internal import HTTPCore
internal import HTTPServer
public import PawlConfiguration
public import System

/// A fleet on this machine, to be tried: PostgreSQL, S3-compatible storage, replicas, and a balancer in front of them. All but the
/// balancer are processes of their own. One that ends is started again, and none outlives this process, however that ends.
public actor DemoFleet {
    /// How a fleet is set up.
    public struct Settings: Sendable {
        /// The address of loopback that the balancer listens on.
        public var host: String
        /// Its port; 0 picks a free one.
        public var port: Int
        /// How many replicas there are, at least 1.
        public var replicas: Int
        /// The directory that holds everything, for the next run, too.
        public var dataDirectory: String
        /// The same, open, if it was claimed.
        public var claimedDirectory: Directory?
        /// What replicas are started with: variables of the service's options.
        public var variables: [String: String]
        /// Whether a line of a replica's log begins with the replica's name.
        public var namesLines: Bool

        /// Settings from all of these.
        public init(
            host: String, port: Int, replicas: Int, dataDirectory: String, claimedDirectory: Directory? = nil,
            variables: [String: String], namesLines: Bool
        ) {
            self.host = host
            self.port = port
            self.replicas = replicas
            self.dataDirectory = dataDirectory
            self.claimedDirectory = claimedDirectory
            self.variables = variables
            self.namesLines = namesLines
        }
    }

    /// One of its processes.
    public struct Member: Sendable {
        /// What people call it: `replica 1`.
        public let name: String
        /// Whether it is a replica, rather than what replicas stand on.
        public let isReplica: Bool
        /// The process's number, while it runs.
        public fileprivate(set) var process: Int32?
        /// The port of 127.0.0.1 that it serves on, while it does.
        public fileprivate(set) var port: Int?
        /// Whether it answered when it was last asked.
        fileprivate var isWell = true
        /// What it wrote last.
        fileprivate var lines: [String] = []
        /// How it ended the last time.
        fileprivate var ending: String?

        fileprivate init(_ name: String, isReplica: Bool = false) {
            self.name = name
            self.isReplica = isReplica
        }
    }

    /// For how long a program is away that has ended.
    public static var restartPause: Duration { KeptProgram.pause }
    /// For how long an end in order may take in all.
    public static let endLimit: Duration = replicaLimit + storageLimit + databaseLimit + .seconds(1)
    /// A service gives itself a little less.
    private static let replicaLimit: Duration = .seconds(10)
    private static let storageLimit: Duration = .seconds(5)
    private static let databaseLimit: Duration = .seconds(10)
    /// How long one thing may take to begin: a database has to recover after a crash.
    private static let startLimit: Duration = .seconds(60)
    /// How often the start looks whether it can go on.
    private static let startInterval: Duration = .milliseconds(50)
    /// How often replicas are asked whether they are well, and how long they may take to answer.
    private static let healthInterval: Duration = .seconds(1)
    private static let healthPatience: Duration = .seconds(3)
    /// How many lines are kept of what a program writes.
    private static let keptLines = 8

    /// Where members stand in their list; replicas come last.
    private static let databaseIndex = 0
    private static let storageIndex = 1
    private static let firstReplica = 2

    /// Where the balancer listens.
    public nonisolated let url: String
    private let log: Log
    private let namesLines: Bool
    private let balancer: Balancer
    private let client: HTTPClient
    private let directory: FleetDirectory
    private let database: DemoDatabase
    private let storage: DemoStorage
    private let replicas: [ChildProcess.Program]
    private var members: [Member]
    /// As many as have been started, each at its member's place.
    private var programs: [KeptProgram] = []
    private var watch: Task<Void, any Error>?
    /// Whether everything has been there once. From then on it is told what ends.
    private var isComplete = false

    private init(_ settings: Settings, log: Log) throws(StartError) {
        self.log = log
        namesLines = settings.namesLines
        let installed: InstalledPrograms
        let count = max(settings.replicas, 1)
        do {
            installed = try .find()
            balancer = try Balancer(host: settings.host, port: settings.port, replicas: count)
            client = try HTTPClient()
        } catch let error as ClientError {
            throw StartError(error.message)
        } catch {
            throw StartError("\(error)")
        }
        url = "http://\(balancer.address)"
        directory = try FleetDirectory(settings.dataDirectory, claimed: settings.claimedDirectory)
        let (path, secret) = (directory.path, directory.secret)
        // Not such as the system gives to connections, which might have one when a program comes back to it.
        let ports = try Self.freePorts(count + 2, after: settings.port == 0 ? .random(in: 10_000..<30_000) : settings.port)
        // What this process was given for databases, storage and services of others must not lead the fleet's there.
        let environment = ProcessEnvironment.variables(beginningWith: [""]).filter { name, _ in
            !["PAWL_", "AWS_", "PG", "MINIO_"].contains { name.hasPrefix($0) }
        }
        database = DemoDatabase(
            programs: installed.postgres, directory: path + "/postgres", password: secret, port: ports[count],
            environment: environment)
        storage = DemoStorage(
            program: installed.storage, directory: path + "/storage", secretAccessKey: secret, port: ports[count + 1],
            environment: environment)
        // In variables and not on command lines, which all users of the machine can see.
        let shared = environment.merging(settings.variables) { $1 }.merging([
            "PAWL_HOST": "127.0.0.1", "PAWL_STORE": database.url, "PAWL_FILES": storage.location,
            "AWS_ACCESS_KEY_ID": DemoStorage.accessKeyID, "AWS_SECRET_ACCESS_KEY": secret,
        ]) { $1 }
        let executable = ProcessEnvironment.absolutePath("/proc/self/exe")
        replicas = (0..<count).map { index in
            let arguments = ["serve", "--port", String(ports[index]), "--data-dir", "\(path)/replica-\(index + 1)"]
            return ChildProcess.Program(executable, arguments, environment: shared, directory: ".")
        }
        members = [Member("PostgreSQL"), Member("storage")] + (1...count).map { Member("replica \($0)", isReplica: true) }
    }

    /// The first ports of 127.0.0.1 after another on which nobody listens.
    private static func freePorts(_ count: Int, after port: Int) throws(StartError) -> [Int] {
        var found: [Int] = []
        for candidate in (port + 1)..<(port + 1000) {
            guard (try? Listener(host: "127.0.0.1", port: candidate, users: 1, unsentBytes: Balancer.chunk)) != nil else {
                continue
            }
            found.append(candidate)
            if found.count == count { return found }
        }
        throw StartError("too few of the ports after \(port) are free")
    }

    /// Starts everything, and returns when it serves.
    /// - Throws: one line that says what is missing or does not start.
    public static func start(_ settings: Settings, log: Log) async throws(StartError) -> DemoFleet {
        let fleet = try DemoFleet(settings, log: log)
        do throws(StartError) {
            try await fleet.begin()
        } catch {
            await fleet.stop()
            throw error
        }
        return fleet
    }

    /// Its processes as they are at the moment, the replicas last.
    public var processes: [Member] { members }

    /// Ends everything in order: replicas first, which still need what they stand on.
    public func stop() async {
        isComplete = false
        watch?.cancel()
        balancer.stop()
        await withTaskGroup { group in
            for program in programs.dropFirst(Self.firstReplica) {
                group.addTask { await program.stop(.terminate, within: Self.replicaLimit) }
            }
        }
        if programs.count > Self.storageIndex {
            await programs[Self.storageIndex].stop(.terminate, within: Self.storageLimit)
        }
        // PostgreSQL's fast end, which does not wait for its clients to go.
        if let database = programs.first { await database.stop(.interrupt, within: Self.databaseLimit) }
        client.shutdown()
    }

    // MARK: - Starting

    private func begin() async throws(StartError) {
        try await database.prepare()
        try await storage.prepare()
        await keep(database.server)
        await keep(storage.server)
        try await wait { $0.members[Self.databaseIndex].port != nil }
        try await wait { await $0.storage.hasBucket($0.client) }
        members[Self.storageIndex].port = storage.port
        for replica in replicas { await keep(replica) }
        try await wait { $0.members.allSatisfy { $0.port != nil } }
        do throws(SystemError) {
            try balancer.start()
        } catch {
            throw StartError("the balancer does not start: \(error)")
        }
        isComplete = true
        watch = Task { try await watchHealth() }
    }

    private func keep(_ program: ChildProcess.Program) async {
        let index = programs.count
        let program = KeptProgram(program) { await self.handle($0, of: index) }
        programs.append(program)
        await program.start()
    }

    /// Waits until something is so.
    /// - Throws: one line, if a member ends before, or it takes too long.
    private func wait(until isSo: (isolated DemoFleet) async -> Bool) async throws(StartError) {
        let deadline = ContinuousClock.now + Self.startLimit
        while true {
            if let member = members.first(where: { $0.ending != nil }) {
                if !member.isReplica { for line in member.lines { StandardStreams.writeError("\(member.name): \(line)\n") } }
                throw StartError("\(member.name) \(member.ending ?? ""): \(member.lines.last ?? "")")
            }
            if await isSo(self) { return }
            guard .now < deadline, (try? await Task.sleep(for: Self.startInterval)) != nil else {
                let late = members[..<programs.count].filter { $0.port == nil }.map(\.name)
                let last = members[..<programs.count].last?.lines.last ?? ""
                throw StartError(
                    "\(late.joined(separator: ", ")) did not start within \(Self.startLimit.components.seconds) s: \(last)")
            }
        }
    }

    // MARK: - Events

    private func handle(_ event: KeptProgram.Event, of index: Int) {
        switch event {
        case .started(let process):
            members[index].process = process
            // It does not tell when it serves, and whoever needs it asks again.
            if index == Self.storageIndex, isComplete { set(storage.port, of: index) }
        case .line(let line): handle(line, of: index)
        case .ended(let reason):
            let process = members[index].process
            members[index].ending = reason
            members[index].process = nil
            set(nil, of: index)
            guard isComplete else { return }
            let pause = KeptProgram.pause.components.seconds
            log.write(
                .warning, "\(members[index].name) \(reason); it is started again in \(pause) s",
                process.map { [("pid", .integer(Int64($0)))] } ?? [])
        }
    }

    private func handle(_ line: String, of index: Int) {
        members[index].lines = members[index].lines.suffix(Self.keptLines - 1) + [line]
        if members[index].isReplica {
            if let port = Self.port(in: line) { return set(port, of: index) }
            StandardStreams.writeError(namesLines ? "\(members[index].name): \(line)\n" : line + "\n")
        } else if index == Self.databaseIndex, DemoDatabase.tellsReadiness(line) {
            set(database.port, of: index)
        }
    }

    /// The port in the line by which a service tells that it serves; nil for other lines.
    static func port(in line: String) -> Int? {
        let beginning = "listening on http://127.0.0.1:"
        return line.hasPrefix(beginning) ? Int(line.dropFirst(beginning.count)) : nil
    }

    /// A member serves on a port, or does not any more.
    private func set(_ port: Int?, of index: Int) {
        members[index].port = port
        members[index].isWell = true
        if members[index].isReplica { balancer.set(port, of: index - Self.firstReplica) }
        guard isComplete, let port, let process = members[index].process else { return }
        log.write(.info, "\(members[index].name) is back", [("pid", .integer(Int64(process))), ("port", .integer(Int64(port)))])
    }

    // MARK: - Health

    /// Takes replicas out of the balancer's turns while they do not answer: what is stopped takes connections all the same.
    private func watchHealth() async throws {
        while true {
            try await Task.sleep(for: Self.healthInterval)
            await withTaskGroup { group in
                for index in Self.firstReplica..<members.count {
                    group.addTask { await self.checkHealth(of: index) }
                }
            }
        }
    }

    private func checkHealth(of index: Int) async {
        guard let port = members[index].port, let url = HTTPURL("http://127.0.0.1:\(port)/healthz") else { return }
        var request = ClientRequest(url: url)
        request.totalTimeout = Self.healthPatience
        let isWell = (try? await client.fetch(request, bodyLimit: 1 << 20)) != nil
        guard !Task.isCancelled, members[index].port == port, members[index].isWell != isWell else { return }
        members[index].isWell = isWell
        balancer.set(isWell ? port : nil, of: index - Self.firstReplica)
        if isWell {
            log.write(.info, "\(members[index].name) answers again")
        } else {
            log.write(.warning, "\(members[index].name) does not answer, and gets no more requests")
        }
    }
}
