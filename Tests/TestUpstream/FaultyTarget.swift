import DemoUpstream
import HTTPCore
import System

/// A request target with its faults.
struct FaultyTarget: Sendable {
    /// The demo's part, without `/faulty/<faults>`.
    private(set) var target: Target
    private(set) var faults: [Fault] = []
    /// The key by which requests are counted: the target as sent, but without the archive's node, which changes each
    /// time.
    let counted: String

    /// The reason why a request is invalid, in a sentence for the body of a 400.
    struct Invalid: Error, Equatable { let message: String }

    init(_ sent: RequestTarget) throws(Invalid) {
        guard let target = Target(sent) else { throw Invalid(message: "The path, the query or the pace is not valid.") }
        self.target = target
        do {
            if target.segments.first == "faulty", target.segments.count >= 2 {
                faults += try Fault.parse(target.segments[1])
                self.target.segments.removeFirst(2)
            }
            for item in target.items where item.name == "fault" { faults += try Fault.parse(item.value) }
        } catch {
            throw Invalid(message: error.message)
        }
        if target.value("ranges") == "none" { faults.append(Fault(kind: .ignoreRanges)) }
        if let node = self.target.segments.first, node.hasPrefix("node-") {
            counted = target.raw.replacing("/\(node)/", with: "/node/", maxReplacements: 1)
        } else {
            counted = target.raw
        }
    }

    /// Gives an entity the validators that the query asks for, and the bytes and validators of a version. Each version is
    /// an hour younger than the one before.
    func change(_ entity: inout Entity, version: Int) {
        let isSynthetic = target.segments == ["entity"]
        if isSynthetic, let tag = target.value("etag") {
            entity.etag = tag == "none" ? nil : EntityTag(opaque: tag.filter { $0 != "\"" && $0.isASCII && $0 > " " })
        }
        if version > 1, let noise = entity.content as? NoiseContent {
            let growth = faults.contains { $0.kind == .changeLength } ? Int64(version - 1) * 4099 : 0
            entity.content = NoiseContent(length: noise.length + growth, seed: noise.seed &+ UInt64(version - 1))
            entity.etag = entity.etag.map { EntityTag(opaque: "\($0.opaque)-v\(version)") }
            entity.lastModified = entity.lastModified.map {
                HTTPDate(secondsSinceEpoch: $0.secondsSinceEpoch + Int64(version - 1) * 3600)
            }
        }
        guard isSynthetic else { return }
        switch target.value("lastmodified") {
        case "none": entity.lastModified = nil
        case "recent": entity.lastModified = HTTPDate(secondsSinceEpoch: SystemTime.sinceEpoch / 1_000_000_000)
        default: break
        }
    }
}
