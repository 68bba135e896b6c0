import HTTPServer
import TestSupport
import TestUpstream
import Testing

@testable import DemoUpstream

@Suite("Contents") @OffPool struct ContentTests {
    @Test("The bytes of a stream are contiguous in every division", arguments: [1, 2, 7, 100, 100_000])
    func stream(portion: Int) {
        let content = NoiseContent(length: 10_000, seed: 1)
        let stream = EntityStream(content, 5..<5000, pace: Pace(bytesPerSecond: 0)) { #expect($0 == 4995) }
        var taken: [UInt8] = []
        while case .more = stream.next(into: &taken, limit: portion, now: .now) {}
        stream.closed()
        var expected: [UInt8] = []
        content.append(5..<5000, to: &expected)
        #expect(Bytes(taken) == Bytes(expected))
    }

    @Test("Artwork is a PNG of its size, different for each album", arguments: [30, 60, 100, 600])
    func artwork(side: Int) {
        var seen: Set<[UInt8]> = []
        for album in Catalogue.shared.albums.prefix(side == 600 ? 2 : 20) {
            let png = Artwork.png(seed: album.id, side: side)
            #expect(png.prefix(8) == [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
            #expect(Int(png[18]) << 8 | Int(png[19]) == side)
            #expect(Int(png[22]) << 8 | Int(png[23]) == side)
            #expect(seen.insert(png).inserted)
        }
    }

    @Test("content(of:) returns an entity's bytes, and nil without any")
    func contentOf() throws {
        let content = try #require(TestUpstream.content(of: "/entity?size=10000&seed=a&fault=reset@5"))
        #expect(content.length == 10_000)
        #expect(content.bytes(in: 9990..<20_000) == Array(content.bytes.suffix(10)))
        #expect(content.bytes != TestUpstream.content(of: "/entity?size=10000&seed=b")?.bytes)
        #expect(content.bytes != TestUpstream.content(of: "/entity?size=10000&seed=a", version: 2)?.bytes)
        #expect(TestUpstream.content(of: "/entity?size=10000&fault=change-length", version: 2)?.length == 14_099)
        #expect(TestUpstream.content(of: "/media/5000110101.wav")?.length == 1_323_044)
        #expect(TestUpstream.content(of: "/large/field-recording-1.bin")?.length == 268_435_456)
        #expect(TestUpstream.content(of: "/episodes/5000910112/audio.mp3")?.length == 1_323_044)
        #expect(TestUpstream.content(of: "/download/nightjar-1977-08-13/nj77-08-13.txt")?.length == 1215)
        #expect(TestUpstream.content(of: "/download/nightjar-1977-08-13/nj77-08-13d1t01.flac") == nil)
        for target in ["/search?term=a", "/nothing", "/entity", "/entity?size=-1", "/media/1.wav", "", "%"] {
            #expect(TestUpstream.content(of: target) == nil, "\(target)")
        }
    }
}
