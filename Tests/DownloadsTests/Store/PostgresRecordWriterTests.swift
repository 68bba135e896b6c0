import Foundation
import HTTPCore
import Postgres
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadStore

@Suite(.timeLimit(.minutes(3)), .enabled(if: PrivatePostgres.isWanted, "\(PrivatePostgres.whySkipped)"))
@OffPool struct PostgresRecordWriterTests {
    // MARK: The fence

    @Test("An instance that was declared ended changes nothing")
    func fence() throws {
        let scene = try PostgresScene()
        let writer = try PostgresRecordWriter(scene.options())
        var told = 0
        writer.instance.fenced = { told += 1 }
        try writer.commit([.save(sampleRecord(1)), .fleet(.enqueue(sampleRecord(1).id))], isRepeated: false)
        try scene.execute("DELETE FROM pawl.instances")
        let id = sampleRecord(1).id
        let groups: [[StoreChange]] = [
            [.add(sampleRecord(2))], [.save(sampleRecord(2))], [.remove(id, changeID: .none)], [.set(name: "a", value: "b")],
            [.progress(StoredProgress(id: id, bytesReceived: 7, segments: []))], [.fleet(.leaveQueue(id))],
            [.fleet(.release(id))],
            [.fleet(.send("letter", to: 7))], [.fleet(.publishVersion(sampleRecord(1).download))],
            [.fleet(.requestSlots(SlotRequest(free: 1, hostLimit: 1)))],
            [.probe],
            [],
        ]
        for group in groups {
            #expect(throws: StoreError.fenced) { try writer.commit(group, isRepeated: false) }
        }
        #expect(throws: StoreError.fenced) { try writer.ownership.take([id]) }
        #expect(throws: StoreError.fenced) { try writer.ownership.retire(leaving: true) }
        #expect(told == groups.count + 2)
        #expect(
            try scene.texts("SELECT id || owner || needs_slot || bytes_received FROM pawl.downloads") == [
                "\(id)\(writer.instance.id)true0"
            ])
        #expect(try scene.number("SELECT count(*) FROM pawl.settings") == 0)
        #expect(try scene.number("SELECT count(*) FROM pawl.messages") == 0)
        #expect(try scene.changes() == [])
    }

    @Test("Does not write records of another instance")
    func ownership() throws {
        let scene = try PostgresScene()
        let (first, second) = try (PostgresRecordWriter(scene.options("a")), PostgresRecordWriter(scene.options("b")))
        let id = sampleRecord(1).id
        try first.commit([.save(sampleRecord(1))], isRepeated: false)
        for group in [[.save(sampleRecord(1, state: .failed))], [.fleet(.enqueue(id))], [.fleet(.leaveQueue(id))]]
            as [[StoreChange]]
        {
            let error = #expect(throws: StoreError.self) {
                try second.commit([.set(name: "a", value: "b")] + group, isRepeated: false)
            }
            #expect(error == .refused("PostgreSQL error PW002: download \(id) belongs to another instance"))
        }
        #expect(try second.settings() == [:])
        let taking = try second.ownership.take([id, sampleRecord(2).id])
        #expect(taking.records.isEmpty && taking.owners == [id: first.instance.id])
        try first.commit([.fleet(.release(id))], isRepeated: false)
        #expect(try second.ownership.take([id]).records.map(\.id) == [id])
        try second.commit([.save(sampleRecord(1, state: .failed))], isRepeated: false)
        #expect(try first.records([id]).map(\.download.state) == [.failed])
    }

    // MARK: When the connection breaks

    enum Loss: CaseIterable { case answer, command }

    @Test("Resolves a doubtful commit: it happens once, and is published once", arguments: Loss.allCases)
    func doubt(_ loss: Loss) throws {
        let scene = try PostgresScene()
        let relay = try scene.relay()
        let writer = try PostgresRecordWriter(scene.options(through: relay))
        let followed = FollowedChanges(writer)
        try writer.commit([.add(sampleRecord(1))], isRepeated: false)
        switch loss {
        case .answer: relay.set(.cutAnswers)
        case .command: relay.cut()
        }
        let group: [StoreChange] = [.add(sampleRecord(2)), .add(sampleRecord(3)), .fleet(.send("letter", to: 7))]
        let error = #expect(throws: StoreError.self) { try writer.commit(group, isRepeated: false) }
        guard case .interrupted? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        if loss == .answer {
            while try scene.number("SELECT count(*) FROM pawl.downloads") < 3 {}
            // The result cannot be queried now either.
            #expect(throws: StoreError.self) { try writer.commit(group, isRepeated: true) }
        }
        #expect(try scene.number("SELECT count(*) FROM pawl.downloads") == (loss == .answer ? 3 : 1))
        relay.set(.relay)
        try writer.commit(group, isRepeated: true)
        try writer.commit([.add(sampleRecord(4))], isRepeated: false)
        #expect(try scene.changes() == (1...4).map { "\($0) \(sampleRecord($0).id)" })
        #expect(try scene.changes() == followed.told)
        #expect(try scene.number("SELECT count(*) FROM pawl.messages") == 1)
    }

    @Test("A commit abandoned in doubt is not taken for a later one")
    func doubtOfAnother() throws {
        let scene = try PostgresScene()
        let relay = try scene.relay()
        let writer = try PostgresRecordWriter(scene.options(through: relay))
        let followed = FollowedChanges(writer)
        relay.set(.cutAnswers)
        #expect(throws: StoreError.self) { try writer.commit([.add(sampleRecord(1))], isRepeated: false) }
        while try scene.number("SELECT count(*) FROM pawl.downloads") < 1 {}
        relay.set(.relay)
        try writer.commit([.add(sampleRecord(2))], isRepeated: false)
        // Acquisitions are not taken for changes either.
        relay.set(.cutAnswers)
        #expect(throws: StoreError.self) { try writer.ownership.take([sampleRecord(1).id]) }
        while try scene.number("SELECT count(*) FROM pawl.downloads WHERE owner IS NOT NULL") < 1 {}
        #expect(throws: StoreError.self) { try writer.commit([.add(sampleRecord(3))], isRepeated: false) }
        relay.set(.relay)
        try writer.commit([.add(sampleRecord(3))], isRepeated: true)
        #expect(try scene.changes() == (1...3).map { "\($0) \(sampleRecord($0).id)" })
        #expect(try scene.changes() == followed.told)
    }

    @Test(
        "Grants slots by the changes of the same group, and resolves those with a lost reply",
        arguments: Loss.allCases)
    func claimInDoubt(_ loss: Loss) throws {
        let scene = try PostgresScene()
        let relay = try scene.relay()
        let writer = try PostgresRecordWriter(scene.options(through: relay))
        try writer.commit([.add(sampleRecord(1))], isRepeated: false)
        #expect(try writer.requestSlots(free: 1, hostLimit: 1).map(\.id) == [sampleRecord(1).id])
        switch loss {
        case .answer: relay.set(.cutAnswers)
        case .command: relay.cut()
        }
        let request = SlotRequest(free: 1, hostLimit: 1)
        let late = SlotRequest(free: 1, hostLimit: 1)
        // The slot is free for the next download.
        let group: [StoreChange] = [
            .fleet(.requestSlots(late)), .add(sampleRecord(2)), .fleet(.leaveQueue(sampleRecord(1).id)),
            .fleet(.requestSlots(request)),
            .fleet(.release(sampleRecord(1).id)),
        ]
        #expect(throws: StoreError.self) { try writer.commit(group, isRepeated: false) }
        if loss == .answer { while try scene.number("SELECT count(*) FROM pawl.downloads") < 2 {} }
        #expect(request.granted.isEmpty)
        relay.set(.relay)
        try writer.commit(group, isRepeated: true)
        #expect(request.granted.map(\.id) == [sampleRecord(2).id])
        if loss == .command { #expect(late.granted.isEmpty) }
        #expect(try writer.requestSlots(free: 1, hostLimit: 2).isEmpty)
    }

    @Test("An instance that restarts on a data directory keeps its downloads, slots and received commands")
    func beginningAnew() throws {
        let scene = try PostgresScene()
        let (before, other) = try (PostgresRecordWriter(scene.options("a")), PostgresRecordWriter(scene.options("b")))
        try before.commit((1...4).map { .add(sampleRecord($0)) }, isRepeated: false)
        #expect(try before.requestSlots(free: 3, hostLimit: 3).count == 3)
        let ids = (1...4).map { sampleRecord($0).id }
        var retrying = sampleRecord(3, state: .retrying)
        retrying.retryHold = RetryHold(.seconds(1), from: .now())
        try before.commit([.save(sampleRecord(1, state: .downloading)), .save(retrying)], isRepeated: false)
        try other.commit([.fleet(.send("letter", to: before.instance.id))], isRepeated: false)
        let again = try PostgresRecordWriter(scene.options("a"))
        let found = try #require(try again.load().fleet)
        #expect(found.owned == Set(ids[0...2]) && found.slots == Set(ids[0...1]))
        // Two of three slots of that host are in use.
        #expect(try other.requestSlots(free: 9, hostLimit: 3).map(\.id) == [ids[3]])
        #expect(try again.changeLog.messages().map(\.text) == ["letter"])
        #expect(try scene.number("SELECT count(*) FROM pawl.instances") == 2)
    }

    @Test("A gid from a client belongs to one download at all replicas")
    func chosenNames() throws {
        let scene = try PostgresScene()
        let (first, second) = try (PostgresRecordWriter(scene.options("a")), PostgresRecordWriter(scene.options("b")))
        func named(_ number: Int) -> StoreChange {
            var record = sampleRecord(number)
            record.download.chosenGID = DownloadGID(7)
            return .add(record)
        }
        try first.commit([named(1)], isRepeated: false)
        let error = #expect(throws: StoreError.self) { try second.commit([named(2)], isRepeated: false) }
        #expect(error == .conflict)
        #expect(try scene.texts("SELECT id FROM pawl.downloads") == [sampleRecord(1).id.description])
    }

    @Test("Concurrent saves decide once which download is the first of a URL")
    func racingSaves() throws {
        let scene = try PostgresScene()
        let writer = try PostgresRecordWriter(scene.options())
        try writer.commit([.add(sampleRecord(1, state: .failed)), .add(sampleRecord(2))], isRepeated: false)
        let url = sampleRecord(1).download.url
        let (place, state) = (scene.database.conninfo, Monitor(0))
        try Thread.start(name: "racing") {
            guard let racing = try? PostgresConnection(place, application: "test", within: .seconds(60)) else { return }
            // The uncommitted row is visible to no query, but to the index.
            try? racing.execute(
                "BEGIN; UPDATE pawl.downloads SET url = '\(url)', holds_url = true, url_digest = sha256(convert_to('\(url)', 'UTF8')) WHERE id = '\(sampleRecord(2).id)'",
                within: .seconds(60))
            state.withLock { ($0 = 1, wake: true) }
            let blocked = PostgresStatement(
                "blocked",
                "SELECT count(*) FROM pg_stat_clear_snapshot(), pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            let deadline = ContinuousClock.now + .seconds(60)
            while ContinuousClock.now < deadline,
                (try? racing.run([PostgresCommand(blocked, [])], within: .seconds(60)).first?.rows.first?.integer(0)) == 0
            {}
            try? racing.execute("COMMIT", within: .seconds(60))
            racing.close()
            state.withLock { ($0 = 2, wake: true) }
        }
        state.wait { $0 > 0 ? .done(()) : .wait(nil) }
        try writer.commit([.save(sampleRecord(1))], isRepeated: false)
        state.wait { $0 == 2 ? .done(()) : .wait(nil) }
        #expect(
            try scene.texts("SELECT id FROM pawl.downloads WHERE holds_url") == [sampleRecord(2).id.description])
    }

    @Test("A restored database has another epoch, and no location for files yet")
    func restored() async throws {
        let scene = try PostgresScene()
        let first = try #require(try PostgresRecordWriter(scene.options("a")).load().fleet)
        let store = try FleetStore(scene.options("b"))
        #expect(try await store.keep(place: "here", replacing: false) == "here")
        #expect(try await store.keep(place: "there", replacing: false) == "here")
        #expect(try await store.keep(place: "moved", replacing: true) == "moved")
        await store.close()
        let before = try #require(try PostgresRecordWriter(scene.options("a")).load().fleet)
        #expect(before.epoch == first.epoch && before.owner.database == first.owner.database)
        // As a restored dump.
        try scene.execute(
            """
            ALTER TABLE pawl.meta RENAME TO dumped;
            CREATE TABLE pawl.meta (name text PRIMARY KEY, value text NOT NULL);
            INSERT INTO pawl.meta SELECT * FROM pawl.dumped
            """)
        let restored = try FleetStore(scene.options("a"))
        #expect(try await restored.keep(place: "there", replacing: false) == "there")
        let after = try #require(try restored.load().fleet)
        await restored.close()
        #expect(after.owner.name == before.owner.name)
        #expect(after.epoch != before.epoch && after.owner.database != before.owner.database)
    }

    private static func row(_ record: DownloadRecord) -> String {
        var row = JSONRowEncoder()
        DownloadRow.encode(record, to: &row)
        return row.text
    }

    @Test("Keeps new records as given, whatever they contain")
    func oddRecords() throws {
        let scene = try PostgresScene()
        let writer = try PostgresRecordWriter(scene.options())
        var odd = sampleRecord(1)
        odd.download.filename = "\u{1F600} 'quoted' u0000 %5Cx41.bin"
        odd.download.labels = ["a\u{1}b", "\u{2028}", "%20", "{}"]
        odd.download.sha256Bytes = (0..<32).map { UInt8($0 * 8) }
        odd.headers = [RequestHeader(name: "X-Odd", value: "\u{7F} \\ \" '")]
        odd.webhook = "https://example.com/?a=%00"
        odd.download.url = "https://example.com/" + String(repeating: "x", count: 8_000)
        let plain = sampleRecord(2, state: .paused)
        try writer.commit([.add(odd), .add(plain)], isRepeated: false)
        #expect(try writer.records([odd.id, plain.id]).map(Self.row) == [odd, plain].map(Self.row))
        var unkeepable = sampleRecord(3)
        unkeepable.download.labels = ["a\0b"]
        unkeepable.webhook = "a\0b"
        try writer.commit([.add(unkeepable)], isRepeated: false)
        #expect(try writer.records([unkeepable.id]).map(\.webhook) == ["a\u{FFFD}b"])
        #expect(
            try scene.texts("SELECT id || needs_slot FROM pawl.downloads ORDER BY id")
                == ["\(odd.id)true", "\(plain.id)false", "\(unkeepable.id)true"])
    }

    @Test("Does not write a committed group again that cannot be followed at once")
    func interruptedFollowing() throws {
        let scene = try PostgresScene()
        let (first, second) = try (PostgresRecordWriter(scene.options("a")), PostgresRecordWriter(scene.options("b")))
        let followed = FollowedChanges(first)
        // Reading changes fails as long as there is such a row.
        try scene.execute(
            """
            CREATE TABLE pawl.trouble ();
            CREATE FUNCTION pawl.troubled() RETURNS boolean LANGUAGE plpgsql AS $$
            BEGIN
                IF EXISTS (SELECT FROM pawl.trouble) THEN RAISE EXCEPTION 'trouble' USING ERRCODE = '57P01'; END IF;
                RETURN false;
            END $$;
            ALTER TABLE pawl.changes RENAME TO kept;
            CREATE VIEW pawl.changes AS SELECT * FROM pawl.kept WHERE NOT pawl.troubled();
            """)
        try second.commit([.add(sampleRecord(1))], isRepeated: false)
        try scene.execute("INSERT INTO pawl.trouble DEFAULT VALUES")
        let group: [StoreChange] = [.add(sampleRecord(2)), .fleet(.send("letter", to: 7))]
        for isRepeated in [false, true] {
            #expect(throws: StoreError.interrupted("trouble")) { try first.commit(group, isRepeated: isRepeated) }
        }
        try scene.execute("DELETE FROM pawl.trouble")
        try first.commit(group, isRepeated: true)
        #expect(try scene.changes() == (1...2).map { "\($0) \(sampleRecord($0).id)" })
        #expect(try scene.changes() == followed.told)
        #expect(try scene.number("SELECT count(*) FROM pawl.messages") == 1)
    }

    @Test("An unreadable change does not fail a commit")
    func unreadableChange() throws {
        let scene = try PostgresScene()
        let writer = try PostgresRecordWriter(scene.options())
        try scene.execute("SELECT pawl.publish(1, '{x}', '{[]}')")
        try writer.commit([.add(sampleRecord(1))], isRepeated: false)
        #expect(try scene.number("SELECT count(*) FROM pawl.downloads") == 1)
    }

    @Test("Waits for a group that the server still commits when the connection breaks")
    func underWay() async throws {
        let scene = try PostgresScene()
        let relay = try scene.relay()
        let (store, followed, fenced) = try scene.store(scene.options(through: relay))
        try await store.save(sampleRecord(1))
        try scene.execute("BEGIN")
        try scene.execute("SELECT FROM pawl.downloads FOR UPDATE")
        let record = sampleRecord(1, state: .paused)
        let commit = store.submit([.save(record), .fleet(.publishVersion(record.download))])
        // The old session waits for the lock, and the new one for that session, until a lock timeout restarts both.
        var given: Set<String?> = []
        while true {
            let blocked = try scene.blocked()
            if blocked.count > 1 { break }
            if let session = blocked.first, given.insert(session).inserted { relay.cut() }
            try await nextTurn()
        }
        try scene.execute("COMMIT")
        try await commit.wait()
        try await store.write([.add(sampleRecord(2))])
        #expect(try scene.changes() == (1...2).map { "\($0) \(sampleRecord($0).id)" })
        #expect(try scene.changes() == followed.told)
        #expect(fenced.withLock { $0 } == 0)
        await store.close()
    }

    @Test("While the database is unreachable, writes wait, and nothing is lost or doubled")
    func databaseAway() async throws {
        let scene = try PostgresScene()
        let relay = try scene.relay()
        var options = GroupCommitOptions(largestGroup: 10)
        options.retryDelay = .milliseconds(1)
        let (store, followed, _) = try scene.store(scene.options(through: relay), options)
        let count = 100
        for round in 0..<5 {
            let commits = (0..<count).map {
                store.submit([.add(sampleRecord(round * count + $0)), .fleet(.send("letter", to: 7))])
            }
            // During the outage, and again after it. A received command is carried out, and its reply goes to no
            // instance.
            relay.set(.cutAnswers)
            relay.cut()
            relay.set(.relay)
            relay.cut()
            for commit in commits { try await commit.wait() }
        }
        let ids = Set((0..<5 * count).map { sampleRecord($0).id.description })
        #expect(Set(try scene.texts("SELECT id FROM pawl.downloads").compactMap(\.self)) == ids)
        #expect(try scene.number("SELECT count(*) FROM pawl.messages") == ids.count)
        let changes = try scene.changes()
        #expect(changes.count == ids.count)
        #expect(followed.told == changes)
        await store.close()
    }

    @Test("A silent link uses no more than the limit, and the result is found out then")
    func swallowing() throws {
        let scene = try PostgresScene()
        let relay = try scene.relay()
        let writer = try PostgresRecordWriter(scene.options(through: relay, limit: .milliseconds(500)))
        relay.set(.swallow)
        // The first breaks the connection, the second makes none.
        for isRepeated in [false, true] {
            #expect(throws: StoreError.interrupted("it does not answer in time")) {
                try writer.commit([.add(sampleRecord(1))], isRepeated: isRepeated)
            }
        }
        #expect(throws: StoreError.interrupted("it does not answer in time")) { try writer.changeLog.follow() }
        relay.set(.relay)
        relay.cut()
        while true {
            // Half a second may be too short on a busy machine.
            do throws(StoreError) {
                try writer.commit([.add(sampleRecord(1))], isRepeated: true)
                break
            } catch {
                guard case .interrupted = error else { throw error }
            }
        }
        #expect(try scene.changes() == ["1 \(sampleRecord(1).id)"])
    }

    // MARK: Leases

    @Test("An instance younger than a lease declares no other ended")
    func reaping() throws {
        let scene = try PostgresScene()
        let lease = Duration.milliseconds(500)
        let dead = try PostgresRecordWriter(scene.options("a", lease: lease))
        var record = sampleRecord(1, state: .downloading)
        record.download.bytesReceived = 9
        record.segments = [SyncedSegment(start: 0, end: nil, synced: 9)]
        try dead.commit([.save(record), .save(sampleRecord(2, state: .paused))], isRepeated: false)
        // As if all replicas had been silent for an hour.
        let reaper = try PostgresRecordWriter(scene.options("b", lease: lease))
        let followed = FollowedChanges(reaper)
        try scene.execute("UPDATE pawl.instances SET renewed_at = renewed_at - interval '1 hour'")
        let begun = ContinuousClock.now
        #expect(try reaper.ownership.reap() == 0)
        while true {
            try reaper.commit([], isRepeated: false)
            if try reaper.ownership.reap() > 0 { break }
        }
        #expect(ContinuousClock.now - begun >= lease)
        #expect(try scene.texts("SELECT id::text FROM pawl.instances") == ["\(reaper.instance.id)"])
        #expect(
            try scene.texts(
                "SELECT concat_ws(' ', state, needs_slot, owner, bytes_received, synced_segments) FROM pawl.downloads ORDER BY id"
            )
                == ["queued t 0", "paused f 0"])
        // Idle downloads without bytes need no report.
        try reaper.changeLog.follow()
        #expect(followed.all.compactMap { $0.download?.state } == [.queued])
        // Its session was ended, and its instance with it.
        while try scene.number(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pawl_instance_\(dead.instance.id)'") > 0
        {}
        let error = #expect(throws: StoreError.self) { try dead.commit([], isRepeated: false) }
        guard case .interrupted? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(throws: StoreError.fenced) { try dead.commit([], isRepeated: true) }
        #expect(try reaper.requestSlots(free: 9, hostLimit: 9).map(\.id) == [record.id])
    }

    @Test("An instance that returns after a lease without the database declares no other ended at once")
    func returning() throws {
        let scene = try PostgresScene()
        let lease = Duration.milliseconds(300)
        let returning = try PostgresRecordWriter(scene.options("a", lease: lease))
        func renew(for time: Duration) throws {
            let begun = ContinuousClock.now
            repeat { try returning.commit([], isRepeated: false) } while ContinuousClock.now - begun <= time
        }
        // It has lived for longer than a lease, and then no other replica is active.
        try renew(for: lease * 2)
        let other = try PostgresRecordWriter(scene.options("b", lease: lease))
        let away = ContinuousClock.now
        while ContinuousClock.now - away <= lease {}
        try scene.execute("UPDATE pawl.instances SET renewed_at = renewed_at - interval '1 hour'")
        #expect(try returning.ownership.reap() == 0)
        try returning.commit([], isRepeated: false)
        #expect(try returning.ownership.reap() == 0)
        try other.commit([], isRepeated: false)
        // After a lease of renewals without a gap, the other one has no excuse. A busy machine makes gaps.
        try scene.execute("UPDATE pawl.instances SET renewed_at = renewed_at - interval '1 hour' WHERE id = \(other.instance.id)")
        while try returning.ownership.reap() == 0 { try renew(for: lease) }
    }

    @Test("Webhook messages arrive at the replica that took them over, even if the reply was lost")
    func adoptionInDoubt() throws {
        let scene = try PostgresScene()
        let giver = try PostgresRecordWriter(scene.options("a"))
        let delivery = WebhookDelivery(
            id: RecordID(value: 5), url: "https://hook.example/", subject: nil, body: Array("{}".utf8),
            due: sampleRecord(1).download.createdAt)
        try giver.commit([.keepDelivery(delivery)], isRepeated: false)
        try giver.ownership.retire(leaving: true)
        let taker = try PostgresRecordWriter(scene.options("b", limit: .seconds(2)))
        let adopted = Locked<[RecordID]>([])
        taker.ownership.adopted = { first in
            let found = (try? taker.deliveries(from: first) { _ in true }) ?? DeliveryPage()
            adopted.withLock { $0 += found.deliveries.map(\.id) }
        }
        // The commit exceeds the wait.
        try scene.execute(
            """
            CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(3); RETURN NULL; END';
            CREATE CONSTRAINT TRIGGER wait AFTER UPDATE ON pawl.webhook_deliveries DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION wait()
            """)
        taker.upkeep(telling: [])
        #expect(adopted.withLock { $0 } == [])
        while adopted.withLock({ $0.isEmpty }) { taker.upkeep(telling: []) }
        taker.upkeep(telling: [])
        #expect(adopted.withLock { $0 } == [delivery.id])
        #expect(try scene.texts("SELECT owner::text FROM pawl.webhook_deliveries") == ["\(taker.instance.id)"])
    }

    @Test("One of the downloads with a URL is the first, after any changes")
    func first() throws {
        let scene = try PostgresScene()
        let writer = try PostgresRecordWriter(scene.options())
        func record(_ number: Int, _ state: DownloadState, url: String = "http://a.example/") -> DownloadRecord {
            var record = sampleRecord(number, state: state)
            record.download.url = url
            return record
        }
        func first() throws -> [String?] {
            try scene.texts("SELECT right(id, 2) FROM pawl.downloads WHERE holds_url ORDER BY id")
        }
        let names = (1...3).map { String(sampleRecord($0).id.description.suffix(2)) }
        try writer.commit([.add(record(1, .queued)), .fleet(.holdURL(sampleRecord(1).id))], isRepeated: false)
        #expect(throws: StoreError.conflict) {
            try writer.commit([.add(record(2, .queued)), .fleet(.holdURL(sampleRecord(2).id))], isRepeated: false)
        }
        try writer.commit([.save(record(1, .failed))], isRepeated: false)
        #expect(try first() == [])
        // After another attempt, the same again.
        try writer.commit([.save(record(1, .queued))], isRepeated: false)
        #expect(try first() == [names[0]])
        try writer.commit([.save(record(1, .cancelled))], isRepeated: false)
        try writer.commit([.add(record(2, .queued)), .fleet(.holdURL(sampleRecord(2).id))], isRepeated: false)
        try writer.commit([.save(record(1, .queued))], isRepeated: false)
        #expect(try first() == [names[1]])
        // Other requested values stay.
        try writer.commit([.save(record(2, .completed)), .save(record(1, .paused))], isRepeated: false)
        #expect(try first() == [names[1]])
        // With another URL, it is the first download of that.
        try writer.commit([.save(record(2, .paused, url: "http://b.example/"))], isRepeated: false)
        #expect(throws: StoreError.conflict) {
            try writer.commit(
                [.add(record(3, .queued, url: "http://b.example/")), .fleet(.holdURL(sampleRecord(3).id))], isRepeated: false)
        }
        #expect(try first() == [names[1]])
    }

    @Test("An instance on the same data directory takes over at once, with the bytes")
    func sameNode() throws {
        let scene = try PostgresScene()
        let (first, other) = try (PostgresRecordWriter(scene.options("a")), PostgresRecordWriter(scene.options("b")))
        var record = sampleRecord(1, state: .downloading)
        record.download.bytesReceived = 9
        record.segments = [SyncedSegment(start: 0, end: nil, synced: 9)]
        let delivery = WebhookDelivery(
            id: RecordID(value: 5), url: "https://hook.example/", subject: record.id, body: Array("{}".utf8),
            due: record.download.createdAt)
        try first.commit([.save(record), .keepDelivery(delivery)], isRepeated: false)
        try other.commit([.save(sampleRecord(2))], isRepeated: false)
        let second = try PostgresRecordWriter(scene.options("a"))
        #expect(throws: StoreError.fenced) { try first.commit([], isRepeated: false) }
        let contents = try second.load()
        #expect(contents.fleet?.owned == [record.id])
        #expect(contents.records.map(portrait) == [portrait(record), portrait(sampleRecord(2))])
        let kept = try second.deliveries(from: RecordID(value: 0)) { _ in true }.deliveries
        #expect(kept.map(\.id) == [delivery.id] && kept.map(\.subject) == [record.id] && kept.map(\.body) == [delivery.body])
        try other.commit([], isRepeated: false)
    }

    @Test("A stopping instance releases downloads without bytes; a leaving one releases all")
    func retiring() throws {
        let scene = try PostgresScene()
        let writer = try PostgresRecordWriter(scene.options())
        var begun = sampleRecord(1, state: .downloading)
        begun.download.bytesReceived = 9
        begun.segments = [SyncedSegment(start: 0, end: nil, synced: 9)]
        try writer.commit([.save(begun), .save(sampleRecord(2, state: .retrying))], isRepeated: false)
        try writer.ownership.retire(leaving: false)
        let rows = "SELECT concat_ws(' ', state, needs_slot, owner, bytes_received) FROM pawl.downloads ORDER BY id"
        #expect(try scene.texts(rows) == ["downloading f \(writer.instance.id) 9", "queued t 0"])
        #expect(try scene.number("SELECT count(*) FROM pawl.instances") == 1)
        try writer.ownership.retire(leaving: true)
        #expect(try scene.texts(rows) == ["queued t 0", "queued t 0"])
        #expect(try scene.number("SELECT count(*) FROM pawl.instances") == 0)
        let idle = try PostgresRecordWriter(scene.options())
        try idle.ownership.retire(leaving: false)
        #expect(try scene.number("SELECT count(*) FROM pawl.instances") == 0)
    }

    // MARK: The schema

    @Test("Many replicas migrate the tables at once")
    func migration() async throws {
        let scene = try PostgresScene()
        let outcomes = Waiter<[String]>([])
        for number in 0..<12 {
            let options = scene.options("\(number)")
            Thread.detachNewThread {
                do throws(StoreError) {
                    try PostgresRecordWriter(options).commit([.add(sampleRecord(number))], isRepeated: false)
                    outcomes.update { $0.append("done") }
                } catch {
                    outcomes.update { $0.append("\(error)") }
                }
            }
        }
        #expect(try await outcomes.wait { $0.count == 12 } == Array(repeating: "done", count: 12))
        #expect(try scene.number("SELECT count(*) FROM pawl.downloads") == 12)
        #expect(try scene.number("SELECT sequence FROM pawl.feed_end") == 12)
    }

    @Test("Refuses a newer schema only if this release cannot run beside it, and another program's always")
    func schemas() throws {
        let scene = try PostgresScene()
        try PostgresRecordWriter(scene.options()).close()
        try scene.execute("UPDATE pawl.meta SET value = '199' WHERE name = 'version'")
        try PostgresRecordWriter(scene.options()).close()
        try scene.execute("UPDATE pawl.meta SET value = '198' WHERE name = 'oldest'")
        let supported = PostgresSchema.version
        #expect(throws: StoreError.newerSchema(path: "the database", found: 199, supported: supported)) {
            try PostgresRecordWriter(scene.options())
        }
        #expect(try scene.number("SELECT value FROM pawl.meta WHERE name = 'version'") == 199)
        let other = try PostgresScene()
        try other.execute("CREATE SCHEMA pawl; CREATE TABLE pawl.theirs (a integer)")
        #expect(throws: StoreError.foreign(path: "the schema 'pawl' of the database")) {
            try PostgresRecordWriter(other.options())
        }
        #expect(try other.number("SELECT count(*) FROM pg_tables WHERE schemaname = 'pawl'") == 1)
    }

    @Test(
        "A database whose encoding lacks characters is refused in one line", arguments: [("LATIN1", true), ("SQL_ASCII", false)])
    func encodings(encoding: String, isRefused: Bool) throws {
        let scene = try PostgresScene()
        let name = "\(scene.database.name)_\(encoding.lowercased())"
        try scene.execute("CREATE DATABASE \(name) ENCODING '\(encoding)' LOCALE 'C' TEMPLATE template0")
        defer { try? scene.execute("DROP DATABASE \(name) WITH (FORCE)") }
        var options = scene.options()
        options.database = scene.database.conninfo.replacing("dbname=\(scene.database.name)", with: "dbname=\(name)")
        if isRefused {
            let error = #expect(throws: StoreError.self) { try PostgresRecordWriter(options) }
            #expect(
                error?.description
                    == "the database: its encoding LATIN1 lacks characters: create one with ENCODING 'UTF8' TEMPLATE template0")
        } else {
            let writer = try PostgresRecordWriter(options)
            try writer.commit([.save(fullRecord(1))], isRepeated: false)
            #expect(try writer.load().records.map(portrait) == [fullRecord(1)].map(portrait))
            writer.close()
        }
    }

    @Test("An empty schema of the role is used; otherwise the message names the missing command")
    func ownedSchema() throws {
        let scene = try PostgresScene()
        let role = "\(scene.database.name)_role"
        try scene.execute("CREATE ROLE \(role) LOGIN PASSWORD 'secret'")
        var options = scene.options()
        options.database = scene.database.conninfo("user=\(role) password=secret")
        func remedy() -> String? {
            let error = #expect(throws: StoreError.self) { try PostgresRecordWriter(options) }
            return error?.description.split(separator: "run ").last.map(String.init)
        }
        #expect(remedy() == "CREATE SCHEMA pawl AUTHORIZATION \(role)")
        try scene.execute("CREATE SCHEMA pawl")
        #expect(remedy() == "ALTER SCHEMA pawl OWNER TO \(role)")
        try scene.execute(try #require(remedy()))
        for _ in 0..<2 { try PostgresRecordWriter(options).close() }
        #expect(try scene.number("SELECT count(*) FROM pg_tables WHERE tableowner <> '\(role)' AND schemaname = 'pawl'") == 0)
        try scene.execute("DROP SCHEMA pawl CASCADE; DROP ROLE \(role)")
    }

    @Test("a second version adds a column once, keeps the rows, and lets replicas of this release continue")
    func addedColumn() throws {
        let scene = try PostgresScene()
        let writer = try PostgresRecordWriter(scene.options())
        let records = [fullRecord(1), sampleRecord(2)]
        try writer.commit(records.map(StoreChange.save), isRepeated: false)
        let connection = try PostgresConnection(scene.database.conninfo, application: "test", within: .seconds(60))
        defer { connection.close() }
        let next = SchemaFile(
            PostgresSchema.version + 1,
            """
            -- A column, and its value for existing rows.
            ALTER TABLE pawl.downloads ADD COLUMN note text;
            UPDATE pawl.downloads SET note = 'old; row';
            """)
        for _ in 1...2 {
            try PostgresSchema.prepare(connection, within: .seconds(60), files: SchemaFile.fleet + [next])
        }
        #expect(try scene.texts("SELECT value FROM pawl.meta WHERE name = 'version'") == ["\(PostgresSchema.version + 1)"])
        #expect(try scene.number("SELECT count(*) FROM pawl.downloads WHERE note = 'old; row'") == 2)
        try writer.commit([.add(sampleRecord(3))], isRepeated: false)
        let other = try PostgresRecordWriter(scene.options("b"))
        #expect(try other.load().records.map(portrait) == (records + [sampleRecord(3)]).map(portrait))
    }

    @Test("a migration that fails changes nothing")
    func failedMigration() throws {
        let scene = try PostgresScene()
        try PostgresRecordWriter(scene.options()).close()
        let connection = try PostgresConnection(scene.database.conninfo, application: "test", within: .seconds(60))
        defer { connection.close() }
        let broken = SchemaFile(
            PostgresSchema.version + 1, "CREATE TABLE pawl.half (a int); ALTER TABLE pawl.nowhere ADD COLUMN note text")
        #expect(throws: StoreError.self) {
            try PostgresSchema.prepare(connection, within: .seconds(60), files: SchemaFile.fleet + [broken])
        }
        #expect(try scene.texts("SELECT value FROM pawl.meta WHERE name = 'version'") == ["\(PostgresSchema.version)"])
        #expect(try scene.number("SELECT count(*) FROM pg_tables WHERE tablename = 'half'") == 0)
    }

    @Test("a database of an unreleased build is refused in one line, by replica and check", arguments: [1, 103])
    func unreleased(_ version: Int) throws {
        let scene = try PostgresScene()
        try scene.execute(
            """
            CREATE SCHEMA pawl;
            CREATE TABLE pawl.meta (name text PRIMARY KEY, value text NOT NULL);
            INSERT INTO pawl.meta VALUES ('version', '\(version)'), ('oldest', '1')
            """)
        let line =
            "the database has records of an unreleased build of Pawl, which this release cannot read: "
            + "give an empty database, or drop the schema 'pawl' in this one"
        let error = #expect(throws: StoreError.self) { try PostgresRecordWriter(scene.options()) }
        #expect(error?.description == line)
        var checking = scene.options()
        checking.isFounding = false
        let checked = #expect(throws: StoreError.self) { try FleetStore(checking) }
        #expect(checked?.description == line)
        #expect(try scene.number("SELECT count(*) FROM pg_tables WHERE schemaname = 'pawl'") == 1)
    }

    // MARK: Rows

    @Test("The database renders a record as this program does")
    func bodies() throws {
        let scene = try PostgresScene()
        let writer = try PostgresRecordWriter(scene.options())
        let records = [fullRecord(1), sampleRecord(2)]
        try writer.commit(records.map(StoreChange.save), isRepeated: false)
        let bodies = try scene.texts("SELECT pawl.encoded(d) FROM pawl.downloads AS d ORDER BY id").compactMap(\.self)
        let told = try bodies.map { portrait(DownloadRecord(try FleetChange.decode($0))) }
        let own = try records.map { portrait(DownloadRecord(try FleetChange.decode(FleetChange.encode($0.download)))) }
        #expect(told == own)
        #expect(own == records.map { portrait(DownloadRecord($0.download)) })
        // A replica shows its own changes as others read them.
        for record in records {
            var download = record.download
            (download.bytesPerSecond, download.stalled, download.receivedRanges) = (7, true, [1..<2, 5..<9])
            (download.waitingFor, download.position, download.publication) = (.slot, 3, 4)
            download.expiresAt = download.createdAt
            let read = try FleetChange.decode(FleetChange.encode(download))
            #expect("\(FleetChange.shared(download))" == "\(read)")
        }
    }

    @Test("Texts survive a round trip, whatever they contain")
    func texts() throws {
        let scene = try PostgresScene()
        let (writer, other) = try (PostgresRecordWriter(scene.options("a")), PostgresRecordWriter(scene.options("b")))
        let (own, followed) = (FollowedChanges(writer), FollowedChanges(other))
        let texts = [
            #"'"\{},"#, #"{"a",NULL,\"b\\"}"#, "NULL", "", " ", "\t\n\r", "🎵👩‍👩‍👧‍👦é", "$1 %s ? ; -- /*", #"\u0000 \x00 \\"#,
            "\u{FFFF}\u{10FFFF}\u{1}",
        ]
        let records = texts.enumerated().map { record($0.offset, $0.element) }
        try writer.commit(records.map(StoreChange.add), isRepeated: false)
        #expect(try writer.records(records.map(\.id)).map(portrait) == records.map(portrait))
        try other.changeLog.follow()
        for changes in [own.all, followed.all] {
            #expect(
                changes.map { $0.download.map { portrait(DownloadRecord($0)) } }
                    == records.map { portrait(DownloadRecord($0.download)) })
        }
        for text in texts where !text.isEmpty { try writer.commit([.set(name: text, value: text)], isRepeated: false) }
        #expect(try other.settings() == Dictionary(uniqueKeysWithValues: texts.filter { !$0.isEmpty }.map { ($0, $0) }))
        for text in texts { try writer.commit([.fleet(.send(text, to: other.instance.id))], isRepeated: false) }
        #expect(try other.changeLog.messages().map(\.text) == texts)
    }

    @Test("Replaces a NUL, which PostgreSQL cannot store", arguments: ["\0", "a\0b", "\0\u{301}", "\0\0\r\n\0"])
    func nul(_ text: String) throws {
        let scene = try PostgresScene()
        let writer = try PostgresRecordWriter(scene.options())
        try writer.commit([.add(record(1, text)), .set(name: "a", value: text)], isRepeated: false)
        let expected = String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }))
        let found = try #require(try writer.records([sampleRecord(1).id]).first)
        #expect(found.download.url == expected && found.download.error?.message == expected)
        // JSON has another spelling.
        #expect(found.download.labels == [text, text] && found.mirrors == [text, text])
        #expect(try writer.settings() == ["a": expected])
    }

    /// A record with the text in every possible column.
    private func record(_ number: Int, _ text: String) -> DownloadRecord {
        // The URL of a completed download is never requested: it may be any text.
        var record = sampleRecord(number, state: .completed)
        record.download.url = text
        record.download.mediaType = text
        record.download.error = DownloadFailure(.httpStatus, text)
        record.download.labels = [text, text]
        record.download.track = Array("{\(text)}".utf8)
        record.download.trackName = text
        record.download.endedAt = record.download.updatedAt
        record.requestedMediaType = text
        // A header has no line break and no NUL; a record with one is refused.
        let field = String(decoding: text.utf8.map { [0, 10, 13].contains($0) ? 0x20 : $0 }, as: UTF8.self)
        record.headers = [RequestHeader(name: field, value: field)]
        record.mirrors = [text, text]
        record.webhook = text
        record.entity = SavedEntity(
            etag: FieldValue(text), lastModified: FieldValue(text), date: text, total: 1, coding: text, source: text, digest: nil)
        return record
    }
}
