import HTTPCore
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadStore

@Suite(.timeLimit(.minutes(3)), .enabled(if: PrivatePostgres.isWanted, "\(PrivatePostgres.whySkipped)"))
@OffPool struct FleetStoreTests {
    private func start(_ store: FleetStore) throws -> Waiter<[FleetChange]> {
        _ = try store.load()
        let changes = Waiter<[FleetChange]>([])
        try store.start(
            FleetStore.Callbacks(
                changed: { more in changes.update { $0 += more } }, received: { _, _ in }, fenced: {}, settingsChanged: {}))
        return changes
    }

    @Test("All replicas receive all changes in one order without gaps")
    func oneOrder() async throws {
        let scene = try PostgresScene()
        let stores = try (0..<3).map {
            try FleetStore(scene.options("\($0)"), committer: GroupCommitOptions(largestGroup: 5))
        }
        let told = try stores.map(start)
        let count = 60
        try await withThrowingTaskGroup { group in
            for (place, store) in stores.enumerated() {
                for number in 0..<count {
                    group.addTask {
                        let record = sampleRecord(place * count + number)
                        try await store.write([.add(record)])
                        // Each caller with a response finds it.
                        #expect(told[place].value.contains { $0.id == record.id })
                    }
                }
            }
            try await group.waitForAll()
        }
        let all = stores.count * count
        let expected = try scene.changes()
        #expect(expected.count == all)
        for changes in told {
            let seen = try await changes.wait { $0.count >= all }
            #expect(seen.map(\.sequence) == (1...UInt64(all)).map { $0 })
            #expect(seen.map { "\($0.sequence) \($0.id)" } == expected)
        }
        for store in stores { await store.close() }
    }

    @Test("A download that its owner releases while another instance requests it is acquired")
    func takenAtTheLastMoment() async throws {
        let scene = try PostgresScene()
        let (owner, other) = try (FleetStore(scene.options("owner")), FleetStore(scene.options("other")))
        _ = try (start(owner), start(other))
        let record = sampleRecord(1)
        try await owner.write([.add(record)])
        #expect(try await owner.take([record.id]).records.map(\.id) == [record.id])
        #expect(try await other.take([record.id]).owners == [record.id: owner.instance])
        // It happens after the first of the requesting statements.
        try scene.execute(
            """
            CREATE FUNCTION pawl.lets_go() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF pg_trigger_depth() = 1 THEN
                    UPDATE pawl.downloads SET owner = NULL WHERE owner = \(owner.instance);
                END IF;
                RETURN NULL;
            END $$;
            CREATE TRIGGER lets_go AFTER UPDATE ON pawl.downloads FOR EACH STATEMENT EXECUTE FUNCTION pawl.lets_go()
            """)
        let taking = try await other.take([record.id])
        #expect(taking.records.map(\.id) == [record.id] && taking.owners.isEmpty)
        await owner.close()
        await other.close()
    }

    @Test("A store that is freed without closing ends its connections")
    func dropped() async throws {
        let scene = try PostgresScene()
        do { _ = try start(FleetStore(scene.options())) }
        let sessions = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        while try scene.number(sessions) > 0 { try await nextTurn() }
    }
}
