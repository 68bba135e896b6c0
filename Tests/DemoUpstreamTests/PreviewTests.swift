import TestSupport
import Testing

@testable import DemoUpstream

@Suite("Previews") @OffPool struct PreviewTests {
    @Test("The header describes a WAVE file with 30 s of 16-bit mono sound and matching lengths")
    func header() throws {
        let audio = Preview(seed: 5_000_110_101, timbre: .struck)
        var bytes: [UInt8] = []
        audio.append(0..<44, to: &bytes)
        func number(_ offset: Int, _ size: Int) -> Int { (0..<size).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) } }
        #expect(String(decoding: bytes[0..<4], as: UTF8.self) == "RIFF")
        #expect(String(decoding: bytes[8..<16], as: UTF8.self) == "WAVEfmt ")
        #expect(String(decoding: bytes[36..<40], as: UTF8.self) == "data")
        #expect(audio.length == 1_323_044)
        #expect(number(4, 4) == 1_323_036)
        #expect(number(20, 2) == 1)
        #expect(number(22, 2) == 1)
        #expect(number(24, 4) == 22_050)
        #expect(number(28, 4) == 44_100)
        #expect(number(32, 2) == 2)
        #expect(number(34, 2) == 16)
        #expect(number(40, 4) == 1_323_000)
    }

    @Test("The first tenth of a second of each track is unique")
    func distinct() {
        var seen: [[UInt8]: String] = [:]
        for track in Catalogue.shared.tracks {
            guard let timbre = track.album.artist.timbre else { continue }
            var bytes: [UInt8] = []
            Preview(seed: track.id, timbre: timbre).append(44..<(44 + 4_410), to: &bytes)
            let other = seen.updateValue(track.name, forKey: bytes)
            #expect(other == nil, "\(track.name) sounds like \(other ?? "")")
        }
        #expect(seen.count > 200)
    }

    @Test(
        "A range equals that range of the whole, at any offset",
        arguments: [
            0..<1, 0..<44, 10..<50, 43..<45, 44..<45, 45..<46, 45..<47, 44..<46, 1000..<1001, 1001..<9000, 500_000..<500_777,
            1_323_040..<1_323_044, 1_323_043..<1_323_044,
        ] as [Range<Int64>])
    func ranges(range: Range<Int64>) throws {
        let audio = Preview(seed: 5_000_110_101, timbre: .plucked)
        let margin: Int64 = 5000
        let around = max(0, range.lowerBound - margin)..<min(audio.length, range.upperBound + margin)
        var whole: [UInt8] = []
        audio.append(around, to: &whole)
        var part: [UInt8] = []
        audio.append(range, to: &part)
        let from = Int(range.lowerBound - around.lowerBound)
        #expect(part.count == range.count)
        #expect(part == Array(whole[from..<(from + range.count)]))
    }

    @Test("Every timbre is loud enough and without distortion", arguments: Timbre.allCases, 0..<3 as Range<Int64>)
    func loudness(timbre: Timbre, seed: Int64) {
        let preview = Preview(seed: seed, timbre: timbre)
        let samples = preview.samples(in: 0..<(Preview.rate * 4))
        let loudest = samples.map { abs(Int($0)) }.max() ?? 0
        #expect((4_000...32_000).contains(loudest))
        // The beginning and the end are silent, without a click.
        #expect(abs(Int(samples[0])) < 50)
        #expect(preview.samples(in: (Preview.sampleCount - 10)..<Preview.sampleCount).allSatisfy { abs(Int($0)) < 50 })
    }
}
