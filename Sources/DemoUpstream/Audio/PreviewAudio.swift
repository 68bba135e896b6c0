/// A track's preview: 30 s of sound as a WAVE file (PCM, 16 bits, mono), made by offset.
struct PreviewAudio: EntityContent {
    let composition: Composition

    /// - Parameter version: 1, or a later edition, which is another tune of the same length.
    init(track: Catalogue.Track, version: Int = 1) {
        composition = Composition(
            seed: UInt64(bitPattern: track.id) &+ UInt64(version - 1) << 40, title: track.name + " " + track.albumName,
            instrument: track.instrument, tune: version == 1 ? Tune.all[track.id] : nil)
    }

    static let headerLength: Int64 = 44
    static let audioLength = Int64(Composition.sampleCount * 2)
    var length: Int64 { Self.headerLength + Self.audioLength }

    func append(_ range: Range<Int64>, to bytes: inout [UInt8]) {
        let range = range.clamped(to: 0..<length)
        let header = range.clamped(to: 0..<Self.headerLength)
        bytes.append(contentsOf: Self.header[Int(header.lowerBound)..<Int(header.upperBound)])
        let start = max(range.lowerBound, Self.headerLength) - Self.headerLength
        let end = range.upperBound - Self.headerLength
        guard start < end else { return }
        let samples = composition.samples(in: Int(start / 2)..<Int((end + 1) / 2))
        // A range may begin or end in the middle of a sample.
        let skipped = start % 2 == 0 ? 0 : 1
        let cut = end % 2 == 0 ? 0 : 1
        let kept = bytes.count
        for sample in samples {
            bytes.append(UInt8(truncatingIfNeeded: sample))
            bytes.append(UInt8(truncatingIfNeeded: sample >> 8))
        }
        bytes.removeLast(cut)
        if skipped == 1 { bytes.remove(at: kept) }
    }

    /// The RIFF header of "Multimedia Programming Interface and Data Specifications 1.0" (1991), numbers little-endian.
    static let header: [UInt8] = {
        var bytes: [UInt8] = []
        func number(_ value: Int, size: Int) {
            for place in 0..<size { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * place))) }
        }
        bytes += Array("RIFF".utf8)
        number(Int(headerLength + audioLength) - 8, size: 4)
        bytes += Array("WAVEfmt ".utf8)
        number(16, size: 4)
        number(1, size: 2)  // PCM
        number(1, size: 2)  // mono
        number(SampleRate.perSecond, size: 4)
        number(SampleRate.perSecond * 2, size: 4)  // bytes per second
        number(2, size: 2)  // bytes per sample of all channels
        number(16, size: 2)  // bits per sample
        bytes += Array("data".utf8)
        number(Int(audioLength), size: 4)
        return bytes
    }()
}
