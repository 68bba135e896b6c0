import Foundation
import HTTPCore
import JSON
import System
import TestSupport
import TestUpstream
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadStore
@testable import Downloads

@Suite("A fleet of replicas", .timeLimit(.minutes(3)), .enabled(if: PrivatePostgres.isWanted, "\(PrivatePostgres.whySkipped)"))
struct FleetServiceTests {
    @Test("One replica downloads, and stores its results in the database")
    func oneReplica() async throws {
        let scene = try FleetScene()
        let replica = try await scene.replica()
        let added = try await replica.service.add(try scene.new("size=100000&seed=1")).download
        #expect(replica.service.index.download(added.id) != nil)
        let done = try await replica.follow(added.id) { !$0.state.isLive }
        #expect(done.state == .completed)
        await replica.service.shutdown()
        #expect(replica.warnings.withLock { $0 } == [])
        let again = try await scene.replica(in: replica.directory)
        #expect(again.service.index.download(added.id)?.state == .completed)
        await again.service.shutdown()
    }

    @Test("All replicas show an accepted download, and a free one transfers it")
    func allShow() async throws {
        let scene = try FleetScene()
        let (first, second) = try await (
            scene.replica { $0.maxConcurrent = 1 }, scene.replica { $0.maxConcurrent = 1 }
        )
        var ids: [RecordID] = []
        for number in 0..<20 {
            ids.append(try await first.service.add(try scene.new("size=20000&seed=\(number)")).download.id)
        }
        for id in ids {
            #expect(try await first.follow(id) { !$0.state.isLive }.state == .completed)
            #expect(try await second.follow(id) { !$0.state.isLive }.state == .completed)
        }
        await first.service.shutdown()
        await second.service.shutdown()
        #expect(first.warnings.withLock { $0 } + second.warnings.withLock { $0 } == [])
    }

    @Test("The owner carries out a command sent to any replica")
    func commandsForOthers() async throws {
        let scene = try FleetScene()
        // The second replica is busy, so the first gets the others.
        let second = try await scene.replica { $0.maxConcurrent = 1 }
        let busy = try await second.service.add(scene.slow(seed: 0)).download
        _ = try await second.follow(busy.id) { $0.state == .downloading }
        let first = try await scene.replica()
        let slow = try await first.service.add(scene.slow(seed: 1)).download
        _ = try await second.follow(slow.id) { $0.state == .downloading && $0.bytesReceived > 0 }
        let owners = try await scene.owners(of: [busy.id, slow.id], second)
        #expect(Set(owners.values).count == 2)
        let paused = try await second.service.perform(.pause, on: slow.id)
        #expect(paused.state == .paused && paused.bytesReceived > 0)
        #expect(second.service.index.download(slow.id)?.state == .paused)
        var change = DownloadChange()
        change.speedLimit = 0
        change.labels = ["faster"]
        #expect(try await second.service.change(slow.id, change).labels == ["faster"])
        await #expect(throws: DownloadError.preconditionFailed) {
            _ = try await second.service.change(slow.id, change) { $0.labels.isEmpty }
        }
        await #expect(throws: DownloadError.illegalTransition(from: .paused, command: "retry")) {
            _ = try await second.service.perform(.retry, on: slow.id)
        }
        let resumed = try await second.service.perform(.resume, on: slow.id)
        #expect(resumed.state == .queued || resumed.state == .downloading)
        let done = try await second.follow(slow.id) { !$0.state.isLive }
        #expect(done.state == .completed)
        // It continued from its bytes.
        #expect(scene.upstream.requests.contains { $0.target.hasSuffix("seed=1") && $0.range?.hasPrefix("bytes=0-") == false })
        try await second.service.remove(slow.id, deletingFile: true)
        #expect(second.service.index.download(slow.id) == nil)
        #expect(try await second.service.performOnAll(.cancel) == 1)
        await first.service.shutdown()
        await second.service.shutdown()
    }

    /// Two replicas: the first has a transferring download, and the second, busy with another, has its own connection
    /// to the database. No lease ends.
    private func remoteCommands(
        _ scene: FleetScene, through relay: FaultyRelay? = nil
    ) async throws -> (owner: Replica, receiver: Replica, id: RecordID) {
        let receiver = try await scene.replica { configuration in
            (configuration.maxConcurrent, configuration.lease) = (1, .seconds(60))
            if let relay { configuration.database = scene.database.conninfo(port: relay.port) }
        }
        let busy = try await receiver.service.add(scene.slow(seed: 100)).download
        _ = try await receiver.follow(busy.id) { $0.state == .downloading }
        let owner = try await scene.replica { $0.lease = .seconds(60) }
        let slow = try await owner.service.add(scene.slow(seed: 101)).download
        _ = try await owner.follow(slow.id) { $0.state == .downloading }
        _ = try await receiver.follow(slow.id) { $0.state == .downloading }
        return (owner, receiver, slow.id)
    }

    @Test("Commands wait for a database that was cut off", arguments: ["one", "all", "changed since", "settings"])
    func commandsWhileAway(command: String) async throws {
        let scene = try FleetScene()
        let relay = try FaultyRelay(to: scene.database.server.port)
        let (owner, receiver, id) = try await remoteCommands(scene, through: relay)
        relay.set(.refuse)
        relay.cut()
        let fleet = try #require(receiver.service.fleet)
        let isDone = Locked(false)
        let task = Task {
            defer { isDone.withLock { $0 = true } }
            switch command {
            case "one": _ = try await receiver.service.perform(.pause, on: id)
            case "all": _ = try await receiver.service.performOnAll(.pause)
            case "settings": _ = try await receiver.service.change([.maxConcurrent: 2])
            default:
                var change = DownloadChange()
                change.labels = ["new"]
                do throws(DownloadError) {
                    _ = try await receiver.service.change(id, change) { $0.labels == ["others"] }
                    Issue.record("it is not so")
                } catch {
                    #expect(error == .preconditionFailed)
                }
            }
        }
        try await until { isDone.withLock { $0 } || fleet.timeSinceResponse > .milliseconds(500) }
        relay.set(.relay)
        try await task.value
        if command == "one" || command == "all" { _ = try await owner.follow(id) { $0.state == .paused } }
        if command == "settings" { #expect(await receiver.service.settings.maxConcurrent == 2) }
        await owner.service.shutdown()
        await receiver.service.shutdown()
    }

    @Test("A remote command that is lost is sent again")
    func lostLetter() async throws {
        let scene = try FleetScene()
        let (owner, receiver, id) = try await remoteCommands(scene)
        let database = try PostgresScene(scene.database)
        let thaw = try await owner.freeze()
        async let paused = receiver.service.perform(.pause, on: id)
        try await until { try database.number("SELECT count(*) FROM pawl.messages") > 0 }
        try database.execute("DELETE FROM pawl.messages")
        thaw()
        #expect(try await paused.state == .paused)
        await owner.service.shutdown()
        await receiver.service.shutdown()
    }

    @Test("Replies again to a command whose reply was lost, without repeating its effect")
    func lostAnswer() async throws {
        let scene = try FleetScene()
        let (owner, receiver, id) = try await remoteCommands(scene)
        let run = try #require(receiver.service.fleet).instance
        let database = try PostgresScene(scene.database)
        try database.execute(
            """
            CREATE TABLE lost (number int);
            CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF NEW.recipient <> \(run) OR EXISTS (SELECT FROM lost) THEN RETURN NEW; END IF;
                INSERT INTO lost VALUES (1);
                RETURN NULL;
            END $$;
            CREATE TRIGGER lose BEFORE INSERT ON pawl.messages FOR EACH ROW EXECUTE FUNCTION lose()
            """)
        let paused = try await receiver.service.perform(.pause, on: id)
        #expect(paused.state == .paused)
        #expect(try database.number("SELECT count(*) FROM lost") == 1)
        try database.execute("DELETE FROM lost")
        // A repetition would be refused.
        #expect(try await receiver.service.perform(.cancel, on: id).state == .cancelled)
        try database.execute("DELETE FROM lost")
        let again = try await receiver.service.perform(.retry, on: id)
        #expect(again.state == .queued || again.state == .downloading)
        await owner.service.shutdown()
        await receiver.service.shutdown()
    }

    @Test("A remote command that was sent before to another instance is not carried out")
    func repetitionForAnother() async throws {
        let scene = try FleetScene()
        let (owner, receiver, id) = try await remoteCommands(scene)
        let (mine, theirs) = (try #require(owner.service.fleet).instance, try #require(receiver.service.fleet).instance)
        for (number, run) in [(1 << 40, mine + 1), ((1 << 40) + 1, mine)] as [(UInt64, Int64)] {
            let command = RemoteMessage.Command(number: number, id: id, request: .pause, revision: nil)
            await owner.service.receive(.message(RemoteMessage(commands: [command], repeatedFor: run), from: theirs))
            if run != mine { #expect(owner.service.index.download(id)?.state == .downloading) }
        }
        _ = try await owner.follow(id) { $0.state == .paused }
        #expect(await owner.service.acceptedCommands == 1)
        await owner.service.shutdown()
        await receiver.service.shutdown()
    }

    @Test("Carries out commands for other replicas' downloads although database sessions keep ending")
    func brokenSessions() async throws {
        let scene = try FleetScene()
        let (owner, receiver, id) = try await remoteCommands(scene)
        let database = try PostgresScene(scene.database)
        func end() throws {
            _ = try database.texts(
                """
                SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity
                    WHERE datname = current_database() AND application_name LIKE 'pawl_instance_%'
                """)
        }
        for _ in 0..<3 {
            try end()
            #expect(try await receiver.service.perform(.pause, on: id).state == .paused)
            try end()
            #expect(try await receiver.service.perform(.resume, on: id).state != .paused)
        }
        await owner.service.shutdown()
        await receiver.service.shutdown()
    }

    @Test("Takes over an ended replica's downloads, and ignores its later writes")
    func adoption() async throws {
        let scene = try FleetScene()
        let first = try await scene.replica()
        let slow = try await first.service.add(scene.slow(seed: 2)).download
        _ = try await first.follow(slow.id) { $0.state == .downloading && $0.bytesReceived > 0 }
        let second = try await scene.replica()
        let release = try await first.freeze()
        #expect(try await second.next(of: slow.id) { $0.state == .queued }.bytesReceived == 0)
        _ = try await second.follow(slow.id) { $0.state == .downloading }
        // It has not received that change, and cannot decide any more.
        await #expect(throws: DownloadError.overloaded) { _ = try await first.service.perform(.resume, on: slow.id) }
        release()
        try await until { await first.service.isFenced }
        // The end of its transfer is no event.
        try await until { await first.service.busyCounts.transferring.isEmpty }
        try await until { await first.service.busyCounts.busy == 0 }
        #expect(first.newsAfterFence.isEmpty, "\(first.newsAfterFence)")
        await #expect(throws: DownloadError.overloaded) { _ = try await first.service.perform(.pause, on: slow.id) }
        var change = DownloadChange()
        change.speedLimit = 0
        _ = try await second.service.change(slow.id, change)
        #expect(try await second.follow(slow.id) { !$0.state.isLive }.state == .completed)
        await first.service.shutdown()
        await second.service.shutdown()
    }

    @Test("Changes of another replica count before they are visible here")
    func lateNews() async throws {
        let scene = try FleetScene()
        // No slow replica is declared ended.
        let lease = { (configuration: inout DownloadsConfiguration) in configuration.lease = .seconds(60) }
        let (first, second) = try await (scene.replica(configure: lease), scene.replica(configure: lease))
        var new = try scene.slow(seed: 8)
        new.startsPaused = true
        let added = try await first.service.add(new).download
        _ = try await second.follow(added.id) { $0.state == .paused }
        var change = DownloadChange()
        change.labels = ["news"]
        let release = try await second.freeze()
        _ = try await first.service.change(added.id, change)
        // Changes of this version, and additions of the URL behind its removal, get their responses once possible.
        let isKnown = Locked(false)
        let relabelled = Task {
            try await second.service.change(added.id, change) { download in
                isKnown.withLock { $0 = true }
                return download.labels == ["news"]
            }
        }
        try await until { isKnown.withLock { $0 } }
        release()
        #expect(try await relabelled.value.labels == ["news"])
        // A download that the other replica never had.
        new = try scene.slow(seed: 9)
        new.startsPaused = true
        let known = try await first.service.add(new).download
        _ = try await second.follow(known.id) { $0.state == .paused }
        let releaseAgain = try await second.freeze()
        try await first.service.remove(known.id, deletingFile: false)
        let again = Task { [new] in try await second.service.add(new) }
        // By then it would have responded without a query.
        for _ in 0..<100 { _ = await second.service.settings }
        releaseAgain()
        #expect(try await again.value.download.id != known.id)
        await first.service.shutdown()
        await second.service.shutdown()
    }

    @Test("A replica that restarts on its data directory continues from its bytes")
    func restart() async throws {
        let scene = try FleetScene()
        // No replica takes its place, however long its restart takes.
        let second = try await scene.replica { configuration in
            (configuration.maxConcurrent, configuration.lease) = (1, .seconds(60))
        }
        let busy = try await second.service.add(scene.slow(seed: 3)).download
        _ = try await second.follow(busy.id) { $0.state == .downloading }
        let first = try await scene.replica { $0.lease = .seconds(60) }
        let slow = try await first.service.add(scene.slow(seed: 4)).download
        let begun = try await second.follow(slow.id) { $0.state == .downloading && $0.bytesReceived > 100_000 }
        #expect(begun.bytesTotal == 20_000_000)
        await first.service.shutdown()
        let again = try await scene.replica(in: first.directory)
        var change = DownloadChange()
        change.speedLimit = 0
        _ = try await second.service.change(slow.id, change)
        #expect(try await second.follow(slow.id) { !$0.state.isLive }.state == .completed)
        #expect(scene.upstream.requests.contains { $0.target.hasSuffix("seed=4") && $0.range?.hasPrefix("bytes=0-") == false })
        await again.service.shutdown()
        await second.service.shutdown()
    }

    @Test("A replica that restarts keeps as many slots as it may have")
    func fewerPlaces() async throws {
        let scene = try FleetScene()
        let replica = try await scene.replica()
        var ids: [RecordID] = []
        for seed in 1...3 { ids.append(try await replica.service.add(scene.slow(seed: seed)).download.id) }
        for id in ids { _ = try await replica.follow(id) { $0.state == .downloading } }
        _ = try await replica.service.change([.maxConcurrent: 1])
        // The state after a crash.
        let copy = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: copy.path + "/data", withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: replica.directory.path + "/data/node", toPath: copy.path + "/data/node")
        let again = try await scene.replica(in: copy)
        let database = try PostgresScene(scene.database)
        try await until {
            try database.texts("SELECT id FROM pawl.downloads WHERE slot_holder IS NOT NULL") == [ids[0].description]
        }
        _ = try await again.follow(ids[0]) { $0.state == .downloading }
        try await until { try database.number("SELECT count(*) FROM pawl.downloads WHERE needs_slot") == 3 }
        await again.service.shutdown()
        await replica.service.shutdown()
    }

    @Test("All replicas together never exceed a host's limit")
    func hostLimit() async throws {
        let scene = try FleetScene()
        let replicas = try await [scene.replica { $0.maxPerHost = 2 }, scene.replica { $0.maxPerHost = 2 }]
        for seed in 10..<16 { _ = try await replicas[seed % 2].service.add(scene.slow(seed: seed)) }
        for replica in replicas {
            while replica.service.index.statistics().counts != [.downloading: 2, .queued: 4] { try await nextTurn() }
        }
        #expect(try await replicas[1].service.performOnAll(.cancel) == 6)
        for replica in replicas { await replica.service.shutdown() }
    }

    @Test("Callers that wait for each other are answered together while the database is unreachable")
    func waitingTogether() async throws {
        let scene = try FleetScene()
        let replica = try await scene.replica { $0.maxConcurrent = 1 }
        var new = try scene.new("size=1000&seed=1")
        new.startsPaused = true
        let paused = try await replica.service.add(new).download
        let thaw = try await replica.freeze()
        let begun = ContinuousClock.now
        let other = try scene.new("size=1000&seed=2")
        let key = RequestKey("k", request: [1])
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    var change = DownloadChange()
                    change.labels = ["\(number)"]
                    await #expect(throws: DownloadError.self) { _ = try await replica.service.change(paused.id, change) }
                }
                group.addTask {
                    await #expect(throws: DownloadError.self) {
                        _ = try await replica.service.change([.segments: Int64(number + 1)])
                    }
                }
                group.addTask { await #expect(throws: DownloadError.self) { _ = try await replica.service.add(other) } }
                group.addTask { await #expect(throws: DownloadError.self) { _ = try await replica.service.reserve(key) } }
            }
        }
        // One wait, not four.
        #expect(begun.duration(to: .now) < FleetStore.patience * 2)
        thaw()
        await replica.service.shutdown()
    }

    @Test("Concurrent requests for one URL at several replicas get one download")
    func duplicates() async throws {
        let scene = try FleetScene()
        let replicas = try await [scene.replica(), scene.replica()]
        let new = try scene.slow(seed: 20)
        let additions = try await withThrowingTaskGroup(of: Addition.self) { group in
            for number in 0..<24 { group.addTask { try await replicas[number % 2].service.add(new) } }
            return try await group.reduce(into: [Addition]()) { $0.append($1) }
        }
        #expect(Set(additions.map(\.download.id)).count == 1)
        #expect(additions.count { if case .created = $0 { true } else { false } } == 1)
        var other = new
        other.onDuplicate = .new
        #expect(try await replicas[1].service.add(other).download.id != additions[0].download.id)
        var rejected = new
        rejected.onDuplicate = .reject
        await #expect(throws: DownloadError.self) { _ = try await replicas[1].service.add(rejected) }
        // A cancelled download has no owner.
        #expect(try await replicas[0].service.performOnAll(.cancel) == 2)
        #expect(try await replicas[1].service.add(new).download.id != additions[0].download.id)
        for replica in replicas { await replica.service.shutdown() }
    }

    @Test("A key means one request at every replica")
    func keys() async throws {
        let scene = try FleetScene()
        // No slow replica is declared ended.
        let lease = { (configuration: inout DownloadsConfiguration) in configuration.lease = .seconds(60) }
        let replicas = try await [scene.replica(configure: lease), scene.replica(configure: lease)]
        let key = RequestKey("a key", request: [1])
        var new = try scene.slow(seed: 30)
        new.onDuplicate = .new
        let request = new
        let ids = try await withThrowingTaskGroup(of: RecordID.self) { group in
            for number in 0..<12 {
                group.addTask {
                    let service = replicas[number % 2].service
                    while true {
                        do {
                            if let kept = try await service.reserve(key) { return try kept.outcomes[0].get().download.id }
                            let added: Addition
                            do {
                                added = try await service.add(request, key: key)
                            } catch {
                                await service.release(key)
                                throw error
                            }
                            await service.release(key)
                            return added.download.id
                        } catch DownloadError.overloaded {
                            // A client repeats a request that a slow database prevented.
                            continue
                        }
                    }
                }
            }
            return try await group.reduce(into: Set<RecordID>()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
        await #expect(throws: DownloadError.keyMismatch) {
            _ = try await replicas[1].service.reserve(RequestKey("a key", request: [2]))
        }
        for replica in replicas { await replica.service.shutdown() }
    }

    @Test("Settings apply to all replicas")
    func settings() async throws {
        let scene = try FleetScene()
        let replicas = try await [scene.replica(), scene.replica()]
        _ = try await replicas[0].service.change([.maxPerHost: 7, .speedLimit: 5_000])
        try await until { await replicas[1].service.settings.maxPerHost == 7 }
        #expect(replicas[1].service.speedLimitInForce == 5_000)
        for replica in replicas { await replica.service.shutdown() }
    }

    @Test("Replicas share default webhooks, and another replica sends the message of one that leaves")
    func defaultWebhooks() async throws {
        let scene = try FleetScene()
        let isUp = Waiter(false)
        let receiver = try ScriptedOrigin { _ in [.response(isUp.value ? 200 : 503)] }
        let hook = try #require(HTTPURL(receiver.url("/hook")))
        let leaving = try await scene.replica {
            $0.leavesFleet = true
            ($0.webhookPolicy.firstDelay, $0.webhookPolicy.longestDelay) = (.seconds(600), .seconds(900))
        }
        _ = try await leaving.service.change([:], webhooks: [])
        let other = try await scene.replica(starting: false) {
            ($0.webhookPolicy.firstDelay, $0.webhookPolicy.longestDelay) = (.milliseconds(1), .milliseconds(1))
            $0.webhooks = [hook]
        }
        #expect(await other.service.settings.webhooks == [])
        #expect(other.warnings.withLock { $0.contains { $0.contains("--webhook has no effect") } })
        _ = try await other.service.change([:], webhooks: [hook])
        try await until { await leaving.service.settings.webhooks == [hook] }
        let made = try await leaving.service.add(try scene.new("size=10&seed=77")).download
        _ = try await other.follow(made.id) { $0.state == .completed }
        let first = try await receiver.requests(atLeast: 1)
        await other.service.start()
        isUp.update { $0 = true }
        await leaving.service.shutdown()
        let last = try #require(try await receiver.requests(atLeast: first.count + 1).last)
        #expect(last["webhook-id"] == first[0]["webhook-id"] && last.body == first[0].body)
        #expect(try ReceivedMessage(last).data.string == "\(made.id) completed")
        await other.service.shutdown()
    }

    @Test("One of several concurrent conditional changes of settings succeeds at a time")
    func racingSettings() async throws {
        let scene = try FleetScene()
        // No slow replica is declared ended.
        let lease = { (configuration: inout DownloadsConfiguration) in configuration.lease = .seconds(60) }
        let replicas = try await [scene.replica(configure: lease), scene.replica(configure: lease)]
        for round in 1...20 {
            let expected = Int64(round)
            _ = try await replicas[0].service.change([.speedLimit: expected])
            for replica in replicas { try await until { await replica.service.settings.speedLimit == expected } }
            let done = await withTaskGroup(of: Bool.self) { group in
                for (number, replica) in replicas.enumerated() {
                    group.addTask {
                        do {
                            _ = try await replica.service.change([.speedLimit: 1_000 + Int64(number)]) { settings in
                                settings.speedLimit == expected
                            }
                            return true
                        } catch {
                            #expect(error as? DownloadError == .preconditionFailed)
                            return false
                        }
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(done == 1)
        }
        for replica in replicas { await replica.service.shutdown() }
    }

    @Test("A replica notices settings whose notification it missed")
    func silentSettings() async throws {
        let scene = try FleetScene()
        let replica = try await scene.replica()
        try PostgresScene(scene.database).execute("INSERT INTO pawl.settings VALUES ('maxPerHost', '7')")
        try await until { await replica.service.settings.maxPerHost == 7 }
        await replica.service.shutdown()
    }

    @Test("Changes that the database refuses at first are sent later", arguments: ["NOT needs_slot", "state <> 'completed'"])
    func publishedLater(_ condition: String) async throws {
        let scene = try FleetScene()
        let replicas = try await [scene.replica(), scene.replica()]
        let database = try PostgresScene(scene.database)
        var new = try scene.new("size=100000&seed=1")
        new.startsPaused = true
        let made = try await replicas[0].service.add(new).download
        try database.execute("ALTER TABLE pawl.downloads ADD CONSTRAINT refusal CHECK (\(condition)) NOT VALID")
        if condition == "NOT needs_slot" {
            await #expect(throws: DownloadError.self) { try await replicas[0].service.perform(.resume, on: made.id) }
        } else {
            _ = try await replicas[0].service.perform(.resume, on: made.id)
            for replica in replicas { _ = try await replica.follow(made.id) { $0.state == .downloading } }
        }
        try database.execute("ALTER TABLE pawl.downloads DROP CONSTRAINT refusal")
        for replica in replicas { _ = try await replica.follow(made.id) { $0.state == .completed } }
        for replica in replicas { try await until { await replica.service.machineCount == 0 } }
        try await until { try database.number("SELECT count(*) FROM pawl.downloads WHERE owner IS NOT NULL OR needs_slot") == 0 }
        for replica in replicas { await replica.service.shutdown() }
    }

    @Test("During a long outage of the database, transfers slow down, and none fails")
    func rest() async throws {
        let scene = try FleetScene()
        let replica = try await scene.replica { configuration in
            (configuration.throttlesAfter, configuration.lease, configuration.stallTimeout) = (
                .seconds(1), .seconds(60), .seconds(1)
            )
        }
        // Too small for several connections.
        var new = try scene.new("size=2000000&seed=50")
        new.speedLimit = 200_000
        let slow = try await replica.service.add(new).download
        _ = try await replica.follow(slow.id) { $0.state == .downloading && $0.bytesReceived > 0 }
        let goOn = try await replica.freeze()
        try await until { replica.service.speedLimitInForce == 1 }
        goOn()
        try await until { replica.service.speedLimitInForce == 0 }
        var change = DownloadChange()
        change.speedLimit = 0
        _ = try await replica.service.change(slow.id, change)
        let done = try await replica.follow(slow.id) { !$0.state.isLive }
        #expect(done.state == .completed && done.attempts == 1)
        #expect(scene.upstream.requests.count { $0.target.hasSuffix("seed=50") } == 1)
        await replica.service.shutdown()
    }

    @Test("Answers many concurrent requests for a download that the replica does not know yet")
    func askedAtOnce() async throws {
        let scene = try FleetScene()
        // No slow replica is declared ended.
        let lease = { (configuration: inout DownloadsConfiguration) in configuration.lease = .seconds(60) }
        let replicas = try await [scene.replica(configure: lease), scene.replica(configure: lease)]
        for number in 0..<50 {
            var new = try scene.new("size=1000&seed=\(number)")
            new.startsPaused = true
            // The other replica is sometimes notified before the request.
            let goOn = try await replicas[1].freeze()
            let added = try await replicas[0].service.add(new).download
            let next = try await replicas[0].service.add(scene.new("size=1&seed=\(number)")).download
            let service = replicas[1].service
            async let refusals = withTaskGroup(of: DownloadError?.self) { group in
                for turn in 0..<6 {
                    group.addTask {
                        var change = DownloadChange()
                        change.labels = ["\(turn)"]
                        do throws(DownloadError) {
                            _ = try await service.change(turn == 3 ? next.id : added.id, change)
                            return nil
                        } catch {
                            return error
                        }
                    }
                }
                return await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
            }
            goOn()
            #expect(await refusals == [])
        }
        for replica in replicas { await replica.service.shutdown() }
    }

    @Test("A reader that continues at another replica misses nothing, and gets nothing twice")
    func readersHop() async throws {
        let scene = try FleetScene()
        let replicas = try await [scene.replica(), scene.replica()]
        var seen: [RecordID: [DownloadState]] = [:]
        let opening = replicas[0].service.events.subscribe(scope: nil, after: nil, interval: .seconds(60)) {}
        var last = opening.next(now: .now)?.eventID
        opening.cancel()
        var ids: [RecordID] = []
        for round in 0..<10 {
            for number in 0..<3 {
                ids.append(
                    try await replicas[number % 2].service.add(try scene.new("size=5000&seed=\(round * 3 + number)")).download.id)
            }
            let replica = replicas[round % 2]
            let subscription = replica.service.events.subscribe(scope: nil, after: last, interval: .seconds(60)) {}
            // Until some of the added downloads have ended here.
            while ids.suffix(3).contains(where: { replica.service.index.download($0)?.state.isLive ?? true }) {
                try await nextTurn()
            }
            while let event = subscription.next(now: .now) {
                last = event.eventID
                switch event {
                case .download(_, let download): seen[download.id, default: []].append(download.state)
                case .snapshot: Issue.record("a snapshot in round \(round)")
                case .removed: break
                }
            }
            subscription.cancel()
        }
        for id in ids {
            let states = seen[id] ?? []
            #expect(states.last == .completed, "\(states)")
            #expect(states.count { $0 == .completed } == 1, "\(states)")
            #expect(states.count { $0 == .downloading } >= 1, "\(states)")
        }
        for replica in replicas { await replica.service.shutdown() }
    }

    @Test("A reader that moves to a replica that is behind gets no snapshot", arguments: [false, true])
    func readerAhead(isScoped: Bool) async throws {
        let scene = try FleetScene()
        // No slow replica is declared ended.
        let second = try await scene.replica { ($0.maxConcurrent, $0.lease) = (1, .seconds(60)) }
        let first = try await scene.replica { $0.lease = .seconds(60) }
        let busy = try await second.service.add(scene.slow(seed: 1)).download
        _ = try await second.follow(busy.id) { $0.state == .downloading }
        let hub = first.service.events
        let reader = hub.subscribe(scope: nil, after: nil, interval: .seconds(60)) {}
        defer { reader.cancel() }
        var new = try scene.new("size=1000&seed=2")
        new.startsPaused = true
        let id = try await first.service.add(new).download.id
        _ = try await second.follow(id) { $0.state == .paused }
        let thaw = try await second.freeze()
        _ = try await first.service.perform(.resume, on: id)
        _ = try await first.follow(id) { $0.state == .completed }
        var seen: EventID?
        while let event = reader.next(now: .now) { seen = event.eventID }
        // The first replica has all changes, the second does not know the last one.
        #expect(second.service.index.download(id)?.state == .paused)
        let last: EventID = try #require(seen)
        let begun = ContinuousClock.now
        let moved = second.service.events.subscribe(
            scope: isScoped ? id : nil, after: last, interval: .seconds(60)
        ) {}
        defer { moved.cancel() }
        #expect(moved.next(now: begun) == nil)
        thaw()
        _ = try await second.follow(id) { $0.state == .completed }
        var change = DownloadChange()
        change.labels = ["later"]
        _ = try await second.service.change(id, change)
        // No second has passed for the reader.
        while let event = moved.next(now: begun) {
            guard case .download(let eventID, let download) = event else {
                Issue.record("\(event)")
                break
            }
            #expect(eventID > last)
            #expect(download.id != id || download.labels == ["later"])
        }
        await first.service.shutdown()
        await second.service.shutdown()
    }

    @Test("A replica leaves no part file of a released download", arguments: [true, false])
    func noPartFile(fails: Bool) async throws {
        let scene = try FleetScene()
        let replica = try await scene.replica { configuration in
            if !fails { configuration.retryDelay = (.seconds(600), .seconds(600)) }
        }
        let added = try await replica.service.add(try scene.new("size=100000&fault=reset@0")).download
        _ = try await replica.follow(added.id) { $0.state == (fails ? .failed : .retrying) }
        if !fails { _ = try await replica.service.perform(.pause, on: added.id) }
        try await until { await replica.service.machineCount == 0 }
        let left = try FileManager.default.contentsOfDirectory(atPath: replica.directory.path + "/data/incomplete")
        #expect(left == [])
        await replica.service.shutdown()
        #expect(replica.warnings.withLock { $0 } == [])
    }
}

extension DownloadEvent {
    /// The last event id of a returning reader.
    fileprivate var eventID: EventID {
        switch self {
        case .snapshot(let id, _), .download(let id, _), .removed(let id, _): id
        }
    }
}
