import Testing

@testable import DownloadCore
@testable import DownloadStore

struct WriteGroupTests {
    private static func describe(_ change: StoreChange) -> String {
        switch change {
        case .add(let record): "add \(record.id.value & 0xFF) \(record.download.revision)"
        case .save(let record): "save \(record.id.value & 0xFF) \(record.download.revision)"
        case .progress(let progress): "progress \(progress.id.value & 0xFF) \(progress.bytesReceived)"
        case .remove(let id, _): "remove \(id.value & 0xFF)"
        case .set(let name, let value): "set \(name) \(value ?? "nil")"
        case .probe: "probe"
        case .remember(let record): "remember \(record.key)"
        case .forget(let key): "forget \(key)"
        case .keepDelivery(let delivery): "keep delivery \(delivery.id)"
        case .dropDelivery(let id): "drop delivery \(id)"
        case .subscription(.save(let subscription)): "save subscription \(subscription.id)"
        case .subscription(.remove(let id)): "remove subscription \(id)"
        case .subscription(.saveItem(let item)): "save item \(item.key)"
        case .subscription(.dropItem(_, let key)): "drop item \(key)"
        case .subscription(.requireClaim(let claim)): "require claim \(claim.id)"
        case .subscription(.endClaim(let claim)): "end claim \(claim.id)"
        case .beginEpoch(let epoch): "begin epoch \(epoch)"
        case .fleet(.publishVersion(let download)): "show \(download.id.value & 0xFF) \(download.revision)"
        case .fleet(.enqueue(let id)): "enqueue \(id.value & 0xFF)"
        case .fleet(.leaveQueue(let id)): "leave queue \(id.value & 0xFF)"
        case .fleet(.holdURL(let id)): "hold the URL of \(id.value & 0xFF)"
        case .fleet(.release(let id)): "let go \(id.value & 0xFF)"
        case .fleet(.requestSlots(let request)): "request slots \(request.free)"
        case .fleet(.send(let text, let run)): "send \(text) to \(run)"
        }
    }

    private static func save(_ number: Int, _ revision: UInt64) -> StoreChange {
        var record = sampleRecord(number)
        record.download.revision = revision
        return .save(record)
    }

    private static func note(_ number: Int, _ bytes: Int64) -> StoredProgress {
        StoredProgress(id: sampleRecord(number).id, bytesReceived: bytes, segments: [])
    }

    struct Case: CustomTestStringConvertible {
        let writes: [[StoreChange]]
        var notes: [StoredProgress] = []
        let expected: [String]

        var testDescription: String { expected.joined(separator: ", ") }
    }

    @Test(
        "Later changes of a group replace earlier ones of the same download",
        arguments: [
            Case(writes: [[save(1, 1)], [save(1, 2)], [save(2, 1)]], expected: ["save 1 2", "save 2 1"]),
            Case(
                writes: [[.add(sampleRecord(1)), .add(sampleRecord(2))], [save(2, 2)]], expected: ["add 1 0", "save 2 2"]),
            Case(writes: [[save(1, 1)], [.remove(sampleRecord(1).id, changeID: .none)]], expected: ["remove 1"]),
            Case(writes: [[.remove(sampleRecord(1).id, changeID: .none)], [save(1, 3)]], expected: ["save 1 3"]),
            Case(writes: [[.progress(note(1, 5))], [save(1, 1)]], expected: ["save 1 1"]),
            Case(
                writes: [[save(1, 1)], [.progress(note(1, 5))], [.progress(note(1, 6))]],
                expected: ["save 1 1", "progress 1 6"]),
            Case(
                writes: [[save(1, 1), .progress(note(1, 5))]], notes: [note(1, 9), note(2, 1)],
                expected: ["save 1 1", "progress 2 1", "progress 1 9"]),
            Case(
                writes: [[.set(name: "a", value: "1")], [.set(name: "a", value: nil)]], expected: ["set a 1", "set a nil"]),
        ])
    func laterChangesReplaceEarlier(_ example: Case) {
        #expect(WriteGroup(example.writes, notes: example.notes).changes.map(Self.describe) == example.expected)
    }
}
