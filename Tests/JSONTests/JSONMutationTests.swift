import JSON
import TestSupport
import Testing

/// Mutations of valid texts: the parser returns for each, and accepted values survive a round trip.
@Suite(.timeLimit(.minutes(3))) @OffPool struct JSONMutationTests {
    nonisolated static let seeds = [
        #"{"url":"https://example.org/a.m4a","headers":{"X-A":"b"},"labels":["x","y"],"priority":-3,"speedLimit":0.5e3,"paused":false}"#,
        #"[1,-2.5e-7,9223372036854775807,"\u00e9\ud834\udd1e\\\"\/\b\f\n\r\t",null,true,false,[],{},[[{"a":[{}]}]]]"#,
        "\n\n\n{\n \"resultCount\":1,\n \"results\": [\n{\"trackName\":\"日本語 é\",\"trackPrice\":0.99}]\n}\n\n\n",
    ]

    @Test("No mutation traps the parser; accepted values survive a round trip", arguments: seeds)
    func survives(seed: String) throws {
        var random = SplitMix(state: 0x5EED)
        let interesting = Array("{}[]\",:\\u0123456789abcdefE+-. \n\u{0}\u{1F}".utf8) + [0x80, 0xC3, 0xED, 0xF4, 0xFF]
        for _ in 0..<4000 {
            var bytes = Array(seed.utf8)
            for _ in 0...Int.random(in: 0...3, using: &random) {
                let place = Int.random(in: 0..<max(bytes.count, 1), using: &random)
                switch Int.random(in: 0..<5, using: &random) {
                case 0 where place < bytes.count: bytes[place] = interesting.randomElement(using: &random) ?? 0
                case 1 where place < bytes.count: bytes.remove(at: place)
                case 2: bytes.insert(interesting.randomElement(using: &random) ?? 0, at: min(place, bytes.count))
                case 3: bytes.removeLast(min(place, bytes.count))
                default:
                    let end = Int.random(in: place...max(bytes.count, place), using: &random)
                    if end <= bytes.count { bytes.insert(contentsOf: bytes[place..<end], at: place) }
                }
            }
            guard let value = try? JSONValue(parsing: bytes) else { continue }
            #expect(try JSONValue(parsing: value.serialized()) == value)
            let document = try JSONDocument(parsing: bytes)
            for element in document.elements ?? document.elements(of: "results") ?? [] {
                #expect(try JSONValue(parsing: bytes[element.range]) == element.value)
            }
        }
    }
}

extension JSONMutationTests {
    @Test("Refuses every truncated text", arguments: seeds)
    func refusesPrefixes(seed: String) throws {
        let bytes = Array(seed.utf8)
        let end = (bytes.lastIndex { $0 != UInt8(ascii: "\n") } ?? 0) + 1
        #expect(throws: Never.self) { try JSONValue(parsing: bytes.prefix(end)) }
        for length in 0..<end {
            #expect(throws: JSONError.self) { try JSONValue(parsing: bytes.prefix(length)) }
        }
    }
}

/// A small generator with a seed, so that a failure can be repeated (Steele, Lea, Flood: SplitMix64).
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
