internal import HTTPCore

extension Entity {
    /// `/large/<name>`: a file that takes long enough for pausing and resuming to be felt.
    static func large(_ name: String, version: Int, extra: Int64) -> Entity? {
        guard let length = largeFiles[name] else { return nil }
        let seed = Mix.scramble(name) &+ UInt64(version - 1)
        var entity = Entity(NoiseContent(length: length + extra, seed: seed), mediaType: "application/octet-stream")
        entity.etag = tag(name, version: version)
        entity.lastModified = lastModified(version: version)
        entity.kind = .large
        return entity
    }

    /// Names and lengths in bytes.
    static let largeFiles: [String: Int64] = [
        "field-recording-1.bin": 256 << 20, "field-recording-2.bin": 512 << 20, "field-recording-3.bin": 1 << 30,
    ]

    /// `/entity?size=…`: bytes and fields as a test wants them.
    ///
    /// | parameter | meaning |
    /// | --- | --- |
    /// | `size` | length in bytes, required |
    /// | `seed` | any text; another seed gives other bytes |
    /// | `etag` | a text that becomes a strong tag; `weak` makes the usual one weak; `none` leaves it out |
    /// | `lastmodified` | seconds since 1970; `recent` is the moment of the answer, so it is a weak validator; `none` leaves it out |
    /// | `type` | Content-Type; `none` leaves it out |
    /// | `disposition` | Content-Disposition |
    /// | `length` | `none`: chunked, without Content-Length |
    /// | `ranges` | `none`: not served, and not announced |
    static func synthetic(_ target: Target, version: Int, extra: Int64, now: Int64) throws(Target.Invalid) -> Entity {
        guard let size = target.value("size").flatMap(Int64.init), (0...(1 << 50)).contains(size) else {
            throw Target.Invalid(message: "size is a number of bytes from 0 to 2^50.")
        }
        let seedText = target.value("seed") ?? "0"
        let seed = Mix.scramble(seedText) &+ UInt64(version - 1)
        var entity = Entity(
            NoiseContent(length: size + extra, seed: seed), mediaType: target.value("type") ?? "application/octet-stream")
        if entity.mediaType == "none" { entity.mediaType = "" }
        let name = "\(size)-" + String(Mix.scramble(seedText), radix: 36)
        switch target.value("etag") {
        case nil: entity.etag = tag(name, version: version)
        case "none"?: entity.etag = nil
        case "weak"?: entity.etag = EntityTag(opaque: tag(name, version: version).opaque, isWeak: true)
        case let text?: entity.etag = tag(text.filter { $0 != "\"" && $0.isASCII && $0 > " " }, version: version)
        }
        switch target.value("lastmodified") {
        case nil: entity.lastModified = lastModified(version: version)
        case "none"?: entity.lastModified = nil
        case "recent"?: entity.lastModified = HTTPDate(secondsSinceEpoch: now)
        case let text?:
            guard let seconds = Int64(text) else {
                throw Target.Invalid(message: "lastmodified is recent, none or seconds since 1970; not \"\(text)\".")
            }
            entity.lastModified = HTTPDate(secondsSinceEpoch: seconds)
        }
        entity.disposition = target.value("disposition")
        entity.hidesLength = target.value("length") == "none"
        entity.servesRanges = target.value("ranges") != "none"
        return entity
    }
}
