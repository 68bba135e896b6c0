import TestSupport
import Testing

@testable import DemoUpstream

@Suite("Previews") @OffPool struct PreviewAudioTests {
    @Test("the header is that of a WAVE file with 30 s of 16-bit mono sound, and its lengths agree with the file's")
    func header() throws {
        let audio = PreviewAudio(track: try #require(Catalogue.shared.tracks.first))
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

    @Test("the first second of every track is different from all others'")
    func distinct() {
        var seen: [[UInt8]: String] = [:]
        for track in Catalogue.shared.tracks {
            var bytes: [UInt8] = []
            PreviewAudio(track: track).append(44..<(44 + 44_100), to: &bytes)
            #expect(seen[bytes] == nil, "\(track.name) sounds like \(seen[bytes] ?? "")")
            seen[bytes] = track.name
        }
        #expect(seen.count == Catalogue.shared.tracks.count)
    }

    @Test(
        "a range is the same bytes as that part of the whole, wherever it begins and ends",
        arguments: [
            0..<1, 0..<44, 10..<50, 43..<45, 44..<45, 45..<46, 45..<47, 44..<46, 1000..<1001, 1001..<9000, 500_000..<500_777,
            1_323_040..<1_323_044, 1_323_043..<1_323_044,
        ] as [Range<Int64>])
    func ranges(range: Range<Int64>) throws {
        let audio = PreviewAudio(track: try #require(Catalogue.shared.tracks.dropFirst(40).first))
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

    @Test("every instrument plays loud enough to hear, and without distorting", arguments: Instrument.allCases)
    func loudness(instrument: Instrument) {
        let composition = Composition(seed: 7, title: "Untitled", instrument: instrument)
        let samples = composition.samples(in: 0..<(SampleRate.perSecond * 8))
        let loudest = samples.map { abs(Int($0)) }.max() ?? 0
        #expect((4_000...32_000).contains(loudest))
        let clipped = samples.filter { abs(Int($0)) >= 32_767 }.count
        #expect(clipped == 0)
        // The beginning and the end are silent: no click.
        #expect(abs(Int(samples[0])) < 50)
        let end = composition.samples(in: (Composition.sampleCount - 10)..<Composition.sampleCount)
        #expect(end.allSatisfy { abs(Int($0)) < 50 })
    }

    @Test(
        "a title's key is played",
        arguments: [
            ("Prelude and Fugue No. 4 in C-Sharp Minor, BWV 849", 1, true),
            ("Prélude No. 17 in A-Flat Major", 7 + 12 - 11, false),
            ("Waltz in A Minor, Op. 34 No. 2", 9, true), ("Nocturne No. 1 in B-Flat Minor", 10, true),
        ])
    func keys(title: String, tonic: Int, isMinor: Bool) throws {
        let key = try #require(Key(named: title))
        #expect(key.tonic == tonic)
        #expect(key.isMinor == isMinor)
    }

    @Test("a title without a key names none", arguments: ["Clair de lune", "Minor", "in Minor", "in H Minor", "Major Tom"])
    func noKey(title: String) {
        #expect(Key(named: title) == nil)
    }
}

@Suite("Tunes") @OffPool struct TuneTests {
    @Test("every tune is readable, belongs to a track, and has notes that its instrument plays")
    func tunes() {
        #expect(Tune.all.count == Tune.texts.count)
        for (id, tune) in Tune.all {
            #expect(Catalogue.shared.track(id) != nil)
            #expect(tune.notes.compactMap(\.pitch).allSatisfy { (36...92).contains($0) })
        }
    }

    @Test(
        "each is the tune of the work it says",
        arguments: [
            (5_000_230_401, "Für Elise, WoO 59"), (5_000_120_101, "Spring: I. Allegro"),
            (5_000_350_104, "In the Hall of the Mountain King"),
            (5_000_610_102, "The Entertainer"), (5_000_110_504, "Jesu, Joy of Man's Desiring, BWV 147"),
            (5_000_370_102, "II. Largo"),
            (5_000_620_110, "Auld Lang Syne"), (5_000_620_201, "Drunken Sailor"),
            (5_000_210_203, "Sonata No. 11 in A Major, K. 331: III. Rondo alla turca"),
            (5_000_350_101, "Morning Mood"), (5_000_230_201, "I. Allegro con brio"), (5_000_210_101, "I. Allegro"),
            (5_000_420_101, "Gymnopédie No. 1: Lent et douloureux"), (5_000_620_101, "Greensleeves"),
            (5_000_110_101, "Prelude and Fugue No. 1 in C Major, BWV 846"),
        ] as [(Int64, String)])
    func names(id: Int64, name: String) {
        #expect(Catalogue.shared.track(id)?.name == name)
        #expect(Tune.all[id] != nil)
    }

    @Test("notes are read with octave, accidental and length, and nothing else is")
    func reading() throws {
        let tune = try #require(Tune("A4 | C#5:2 - Bb3:3", unitsPerMinute: 60))
        #expect(
            tune.notes == [
                .init(pitch: 69, units: 1), .init(pitch: 73, units: 2), .init(pitch: nil, units: 1), .init(pitch: 58, units: 3),
            ])
        for text in ["", "H4", "A", "A4:0", "A4:x", "4"] { #expect(Tune(text, unitsPerMinute: 60) == nil) }
    }
}
