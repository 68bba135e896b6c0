import Testing

@testable import DownloadFiles

@Suite("The downloads directories that records know")
struct KnownVolumesTests {
    private static let known: KnownVolumes = {
        var known = KnownVolumes("")
        known.note(VolumeMarker(id: a, epoch: 5), at: "/a")
        known.note(VolumeMarker(id: b, epoch: 9), at: "/b")
        return known
    }()
    private static let a = String(repeating: "a", count: 32)
    private static let b = String(repeating: "b", count: 32)
    private static let c = String(repeating: "c", count: 32)

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let found: KnownVolumes.Found
        let path: String
        /// `nil` for a missing one.
        let use: (id: String?, epoch: UInt64, isRolledBack: Bool)?
        var hasParts = true
    }

    static let cases = [
        Case(testDescription: "the same", found: .marker(VolumeMarker(id: a, epoch: 5)), path: "/a", use: (a, 6, false)),
        Case(
            testDescription: "another one that is known", found: .marker(VolumeMarker(id: b, epoch: 9)), path: "/a",
            use: (b, 10, false)),
        Case(testDescription: "mounted elsewhere", found: .marker(VolumeMarker(id: a, epoch: 5)), path: "/c", use: (a, 6, false)),
        Case(testDescription: "an earlier state", found: .marker(VolumeMarker(id: a, epoch: 4)), path: "/a", use: (a, 6, true)),
        Case(testDescription: "earlier records", found: .marker(VolumeMarker(id: a, epoch: 7)), path: "/a", use: (a, 8, false)),
        Case(testDescription: "a bare mount point", found: .nothing, path: "/a", use: nil),
        Case(testDescription: "another's directory", found: .marker(VolumeMarker(id: c, epoch: 1)), path: "/a", use: nil),
        Case(testDescription: "an approved one", found: .approval, path: "/a", use: (nil, 0, false)),
        Case(testDescription: "a new path", found: .nothing, path: "/new", use: (nil, 0, false)),
        Case(
            testDescription: "a new path with a marker", found: .marker(VolumeMarker(id: c, epoch: 1)), path: "/new",
            use: (c, 2, false), hasParts: false),
        Case(
            testDescription: "a new path with a marker and part files", found: .marker(VolumeMarker(id: c, epoch: 1)),
            path: "/new", use: nil),
    ]

    @Test("A directory is used or missing", arguments: cases)
    func verdict(_ rule: Case) {
        switch Self.known.verdict(rule.found, at: rule.path, hasParts: rule.hasParts) {
        case .away(let reason):
            #expect(rule.use == nil)
            #expect(reason.contains(rule.path))
        case .use(let marker, let isRolledBack):
            #expect(rule.use.map { $0.id == nil || $0.id == marker.id } == true)
            #expect(rule.use?.epoch == marker.epoch && rule.use?.isRolledBack == isRolledBack)
        }
    }

    @Test("Records without a known directory accept the given one")
    func first() {
        guard case .use(let marker, isRolledBack: false) = KnownVolumes("").verdict(.nothing, at: "/a", hasParts: true) else {
            Issue.record("not used")
            return
        }
        #expect(VolumeMarker(marker.text) == marker)
        #expect(marker.id != VolumeMarker().id)
    }

    @Test("The stored list survives a round trip, and has a limit")
    func text() {
        #expect(KnownVolumes(Self.known.text) == Self.known)
        #expect(Self.known.volumes.map(\.path) == ["/b", "/a"])
        var many = KnownVolumes("")
        for number in 0..<40 { many.note(VolumeMarker(), at: "/\(number)") }
        #expect(many.volumes.count == KnownVolumes.limit && many.volumes.first?.path == "/39")
        #expect(KnownVolumes("rubbish\n\t\n").volumes.isEmpty)
        for text in ["", "pawl", "pawl x 0", "pawl \(Self.a) zz\n", "other \(Self.a) 1"] { #expect(VolumeMarker(text) == nil) }
    }
}
