import HTTPCore
import System
import TestSupport
import TestUpstream
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadStore
@testable import Downloads

@Suite("The order of the queue", .timeLimit(.minutes(3)))
struct QueueOrderTests {
    /// A service without slots, and its downloads, every second one paused.
    private func queue(_ count: Int) async throws -> (ServiceFixture, [RecordID]) {
        let fixture = try await ServiceFixture(starting: false)
        var ids: [RecordID] = []
        for number in 0..<count {
            ids.append(try await fixture.add("size=10&seed=\(number)") { $0.startsPaused = number % 2 == 1 }.id)
        }
        return (fixture, ids)
    }

    private func order(_ fixture: ServiceFixture) -> [RecordID] {
        let queue = fixture.service.index.queue(offset: 0, limit: .max)
        #expect(queue.map(\.position) == queue.indices.map { $0 })
        #expect(queue.count == fixture.service.index.queueCount)
        return queue.map(\.id)
    }

    private func change(_ edit: (inout DownloadChange) -> Void) -> DownloadChange {
        var change = DownloadChange()
        edit(&change)
        return change
    }

    @Test("Queued and paused downloads have one order, and pausing and resuming keep the position")
    func pausing() async throws {
        let (fixture, ids) = try await queue(4)
        #expect(order(fixture) == ids)
        #expect(try await fixture.service.perform(.pause, on: ids[0]).position == 0)
        #expect(try await fixture.service.perform(.resume, on: ids[1]).position == 1)
        #expect(try await fixture.service.perform(.resume, on: ids[3]).position == 3)
        #expect(order(fixture) == ids)
        #expect(fixture.service.index.download(ids[2])?.position == 2)
        #expect(fixture.service.index.page(ListQuery(limit: 2)).items.map(\.position) == [3, 2])
        #expect(fixture.service.index.live().map(\.position) == [0, 1, 2, 3])
        _ = try await fixture.service.perform(.cancel, on: ids[1])
        #expect(fixture.service.index.download(ids[1])?.position == nil)
        // A retried download is at the end.
        #expect(try await fixture.service.perform(.retry, on: ids[1]).position == 3)
        #expect(order(fixture) == [ids[0], ids[2], ids[3], ids[1]])
        await fixture.service.shutdown()
    }

    @Test("A move is durable before the response, and newer downloads are behind it even after a restart")
    func restart() async throws {
        let (fixture, ids) = try await queue(5)
        #expect(try await fixture.service.move(ids[4], to: .start(0)) == 0)
        #expect(try await fixture.service.move(ids[0], to: .end(0)) == 4)
        #expect(try await fixture.service.move(ids[2], to: .current(-1)) == 1)
        #expect(try await fixture.service.change(ids[3], change { $0.position = 1 }).position == 1)
        let expected = [ids[4], ids[3], ids[2], ids[1], ids[0]]
        #expect(order(fixture) == expected)
        let crashed = try await fixture.crash(starting: false)
        #expect(order(crashed) == expected)
        let newest = try await crashed.add("size=10&seed=9")
        #expect(newest.position == 5)
        #expect(order(crashed) == expected + [newest.id])
        let inserted = try await crashed.add("size=10&seed=10") { $0.position = 2 }
        #expect(inserted.position == 2)
        #expect(order(crashed) == [ids[4], ids[3], inserted.id, ids[2], ids[1], ids[0], newest.id])
        await crashed.service.shutdown()
        await fixture.service.shutdown()
    }

    @Test("Downloads of one request get consecutive positions")
    func batch() async throws {
        let (fixture, ids) = try await queue(2)
        var items: [Result<NewDownload, Problem>] = []
        for (number, position) in [0, 1, nil, 0].enumerated() {
            items.append(.success(NewDownload(url: try fixture.url("size=10&seed=3\(number)"), .with { $0.position = position })))
        }
        let outcomes = try await fixture.service.add(items)
        let made = try outcomes.map { try $0.get().download }
        // Positions are those after the whole batch, and equal ones keep their own order.
        #expect(made.map(\.position) == [0, 2, 5, 1])
        #expect(order(fixture) == [made[0].id, made[3].id, made[1].id, ids[0], ids[1], made[2].id])
        await fixture.service.shutdown()
    }

    @Test("A batch with position 0 is at the front in its own order")
    func batchAtTheFront() async throws {
        let (fixture, ids) = try await queue(3)
        let items: [Result<NewDownload, Problem>] = try (0..<300).map {
            .success(NewDownload(url: try fixture.url("size=10&seed=4\($0)"), .with { $0.position = 0 }))
        }
        let made = try await fixture.service.add(items).map { try $0.get().download }
        #expect(made.map(\.position) == Array(0..<300))
        #expect(order(fixture) == made.map(\.id) + ids)
        await fixture.service.shutdown()
    }

    @Test("In turn, each download of a request is inserted at its position among those before it")
    func inTurn() async throws {
        let (fixture, ids) = try await queue(2)
        let positions = [0, 0, nil, 1, 3, 0, nil, 9, 1]
        let items: [Result<NewDownload, Problem>] = try positions.enumerated().map { number, position in
            .success(NewDownload(url: try fixture.url("size=10&seed=6\(number)"), .with { $0.position = position }))
        }
        let made = try await fixture.service.add(items, keepsOrder: false).map { try $0.get().download }
        var model = ids
        for (download, position) in zip(made, positions) {
            model.insert(download.id, at: min(position ?? model.count, model.count))
        }
        #expect(order(fixture) == model)
        #expect(made.map(\.position) == made.map { model.firstIndex(of: $0.id) })
        await fixture.service.shutdown()
    }

    @Test("After hundreds of insertions at one position, each has its true position, also with its key")
    func insertions() async throws {
        let (fixture, ids) = try await queue(3)
        var model = ids
        for number in 0..<300 {
            let key = RequestKey("k\(number)", request: [])
            let new = NewDownload(url: try fixture.url("size=10&seed=5\(number)"), .with { $0.position = 1 })
            #expect(try await fixture.service.reserve(key) == nil)
            let told = try await fixture.service.add(new, key: key).download
            await fixture.service.release(key)
            model.insert(told.id, at: 1)
            let replayed = try await fixture.service.reserve(key)?.outcomes.first?.get().download
            #expect(told.position == 1 && replayed?.position == 1)
            #expect(fixture.service.index.download(told.id)?.position == 1)
        }
        #expect(order(fixture) == model)
        await fixture.service.shutdown()
    }

    @Test("Positions and order equal an array's after any insertions, even after a crash")
    func insertionModel() async throws {
        let (fixture, ids) = try await queue(2)
        var random = SystemRandom()
        var model = ids
        for step in 0..<60 {
            // Mostly at the same position, where ranks run out.
            let positions: [Int?] = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                switch Int.random(in: 0..<8, using: &random) {
                case 0: nil
                case 1: Int.random(in: 0...40, using: &random)
                default: 1
                }
            }
            let items: [Result<NewDownload, Problem>] = try positions.enumerated().map { number, position in
                .success(NewDownload(url: try fixture.url("size=10&seed=\(step)&n=\(number)"), .with { $0.position = position }))
            }
            let made =
                if items.count == 1, let new = try items.first?.get() {
                    [try await fixture.service.add(new).download]
                } else {
                    try await fixture.service.add(items).map { try $0.get().download }
                }
            var last: [Int: RecordID] = [:]
            for (download, position) in zip(made, positions) {
                guard let position else {
                    model.append(download.id)
                    continue
                }
                let place = last[position].flatMap { model.firstIndex(of: $0) }.map { $0 + 1 } ?? min(position, model.count)
                model.insert(download.id, at: place)
                last[position] = download.id
            }
            #expect(made.map(\.position) == made.map { model.firstIndex(of: $0.id) })
            #expect(order(fixture) == model)
        }
        let crashed = try await fixture.crash(starting: false)
        #expect(order(crashed) == model)
        await crashed.service.shutdown()
        await fixture.service.shutdown()
    }

    @Test("Requests of one commit get different positions")
    func together() async throws {
        let (fixture, ids) = try await queue(2)
        fixture.store.delay { if case .add = $0 { true } else { false } }
        let service = fixture.service
        let urls = try (0..<200).map { try fixture.url("size=10&seed=6\($0)") }
        let told = try await withThrowingTaskGroup(of: Download.self) { group in
            for url in urls { group.addTask { try await service.add(NewDownload(url: url, .with { $0.position = 1 })).download } }
            try await fixture.store.delayed.wait { $0.count == 200 }
            for commit in fixture.store.delayed.value { commit.set(nil) }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(told.allSatisfy { $0.position == 1 })
        // The last one is before all others, as if they had arrived one after another.
        #expect(order(fixture) == [ids[0]] + told.map(\.id).sorted(by: >) + [ids[1]])
        fixture.store.delay(nil)
        await fixture.service.shutdown()
    }

    @Test("Between others, a download gets the nearest priority, and only a waiting one can be moved")
    func priorities() async throws {
        let fixture = try await ServiceFixture { $0.maxConcurrent = 1 }
        let first = try await fixture.add("size=4000000&seed=50&fault=stall@1000000")
        _ = try await fixture.follow(first.id) { $0.bytesReceived > 0 }
        let high = try await fixture.add("size=10&seed=51") { $0.priority = 7 }
        let low = try await fixture.add("size=10&seed=52") { $0.priority = -7 }
        #expect(order(fixture) == [high.id, low.id])
        #expect(fixture.service.index.download(first.id)?.position == nil)
        let moved = try await fixture.service.change(low.id, change { $0.position = 0 })
        #expect(moved.priority == 7 && moved.position == 0)
        for change in [change { $0.position = 0 }, change { ($0.position, $0.url) = (0, HTTPURL("http://127.0.0.1:1/")) }] {
            await #expect(throws: DownloadError.illegalTransition(from: .downloading, command: "new position")) {
                try await fixture.service.change(first.id, change)
            }
        }
        #expect(fixture.service.index.download(first.id)?.state == .downloading)
        await #expect(throws: DownloadError.notFound) {
            try await fixture.service.move(RecordID(value: 1), to: .start(0))
        }
        _ = try await fixture.service.perform(.cancel, on: first.id)
        for id in [high.id, low.id] { _ = try await fixture.end(of: id) }
        let ends = fixture.service.index.ended(limit: 9)
        #expect(ends.count == 3 && ends.first?.id == first.id)
        #expect(Set(fixture.service.index.ended(limit: 2).map(\.id)) == [low.id, high.id])
        await fixture.service.shutdown()
    }

    @Test("The order equals an array's under any changes, even after a crash")
    func model() async throws {
        let (fixture, ids) = try await queue(12)
        var random = SystemRandom()
        var model = ids.map { (id: $0, priority: 0) }
        for step in 0..<150 {
            guard let from = model.indices.randomElement(using: &random) else { return }
            let (id, to) = (model[from].id, Int.random(in: 0...model.count, using: &random))
            switch Int.random(in: 0..<8, using: &random) {
            case 0: _ = try await fixture.service.perform(.pause, on: id)
            case 1: _ = try await fixture.service.perform(.resume, on: id)
            case 2:
                let priority = Int.random(in: -1...1, using: &random)
                let made = try await fixture.add("size=10&seed=\(100 + step)") { $0.priority = priority }
                model.insert((made.id, priority), at: model.firstIndex { $0.priority < priority } ?? model.count)
            case 3 where model.count > 3:
                try await fixture.service.remove(id, deletingFile: false)
                model.remove(at: from)
            default:
                var moved = model.remove(at: from)
                let place = min(to, model.count)
                if place < model.count { moved.priority = max(moved.priority, model[place].priority) }
                if place > 0 { moved.priority = min(moved.priority, model[place - 1].priority) }
                model.insert(moved, at: place)
                let move: QueueMove =
                    switch step % 3 {
                    case 0: .start(to)
                    case 1: .current(place - from)
                    default: .end(place - model.count + 1)
                    }
                #expect(try await fixture.service.move(id, to: move) == place)
            }
            #expect(order(fixture) == model.map(\.id))
        }
        let crashed = try await fixture.crash(starting: false)
        #expect(order(crashed) == model.map(\.id))
        await crashed.service.shutdown()
        await fixture.service.shutdown()
    }

    @Test("Concurrent moves and starts leave one order, in which downloads start")
    func races() async throws {
        let fixture = try await ServiceFixture { $0.maxConcurrent = 2 }
        let blocker = try await fixture.add("size=4000000&seed=1&fault=stall@1000000")
        _ = try await fixture.follow(blocker.id) { $0.bytesReceived > 0 }
        var ids: [RecordID] = []
        for number in 0..<30 { ids.append(try await fixture.add("size=10&seed=\(number + 200)") { $0.startsPaused = true }.id) }
        let all = ids
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    for (number, id) in all.enumerated() where number % 4 == worker {
                        _ = try? await fixture.service.perform(.resume, on: id)
                        // It may have started or ended.
                        _ = try? await fixture.service.move(all[(number * 7 + 3) % all.count], to: .start(number % 5))
                    }
                }
            }
        }
        let ended = try await ids.asyncMap { try await fixture.end(of: $0) }
        #expect(ended.allSatisfy { $0.state == .completed })
        #expect(fixture.service.index.queueCount == 0)
        #expect(fixture.service.index.active().map(\.id) == [blocker.id])
        await fixture.service.shutdown()
    }

    @Test("With one slot, downloads start in the order of their moves")
    func starts() async throws {
        let fixture = try await ServiceFixture { $0.maxConcurrent = 1 }
        let blocker = try await fixture.add("size=4000000&seed=1&fault=stall@1000000")
        _ = try await fixture.follow(blocker.id) { $0.bytesReceived > 0 }
        var ids: [RecordID] = []
        for number in 0..<5 { ids.append(try await fixture.add("size=10&seed=\(number + 300)").id) }
        for (id, place) in [(ids[4], 0), (ids[0], 4), (ids[2], 1)] {
            #expect(try await fixture.service.move(id, to: .start(place)) == place)
        }
        let expected = order(fixture)
        #expect(expected == [ids[4], ids[2], ids[1], ids[3], ids[0]])
        _ = try await fixture.service.perform(.cancel, on: blocker.id)
        for id in ids { _ = try await fixture.end(of: id) }
        let requested = fixture.requests().compactMap { request in
            ids.first { request.target.contains(fixture.service.index.download($0)?.url.split(separator: "?").last ?? "none") }
        }
        #expect(requested == expected)
        await fixture.service.shutdown()
    }
}

extension Sequence where Self: Sendable {
    fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await body(element)) }
        return values
    }
}
