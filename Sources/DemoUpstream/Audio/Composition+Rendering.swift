extension Composition {
    /// The samples of a range, each of which depends on nothing but its index: a range of a preview is made without what precedes it.
    func samples(in range: Range<Int>) -> [Int16] {
        let range = range.clamped(to: 0..<Self.sampleCount)
        var sums = [Int32](repeating: 0, count: range.count)
        // Notes are in order of their start, and none outlasts `longestNote`.
        var place = firstNote(startingFrom: range.lowerBound - longestNote)
        while place < notes.count, notes[place].start < range.upperBound {
            add(notes[place], to: &sums, from: range.lowerBound)
            place += 1
        }
        var samples: [Int16] = []
        samples.reserveCapacity(sums.count)
        var index = 0
        while index < sums.count {
            samples.append(Int16(clamping: faded(Int(sums[index]), at: range.lowerBound &+ index)))
            index &+= 1
        }
        return samples
    }

    private func add(_ note: Note, to sums: inout [Int32], from first: Int) {
        let end = min(note.start + note.length, first + sums.count) - note.start
        var age = max(note.start, first) - note.start
        var index = note.start + age - first
        var phase = UInt32(truncatingIfNeeded: age) &* note.increment
        // The loudness is looked up at every 32nd sample of the note and moves in a straight line between.
        while age < end {
            let segment = age & ~31
            let stop = min(end, segment &+ 32)
            let opening = loudness(of: note, at: segment)
            let slope = loudness(of: note, at: segment &+ 32) &- opening
            while age < stop {
                let loudness = opening &+ (slope &* Int32(truncatingIfNeeded: age &- segment)) >> 5
                let wave = voice.period[Int(truncatingIfNeeded: phase >> Self.phaseShift)]
                sums[index] &+= (wave &* loudness) >> 15
                phase &+= note.increment
                age &+= 1
                index &+= 1
            }
        }
    }

    private static let phaseShift = UInt32(32 - Voice.periodBits)

    /// Loudness at an age in samples, 0...32,767.
    private func loudness(of note: Note, at age: Int) -> Int32 {
        guard age < note.length else { return 0 }
        // Position in the envelope, in 1/32,768 of one of its steps.
        let position = age &* Voice.envelopeLength &* 32_768 / note.length
        let step = position >> 15
        let low = voice.envelope[step]
        let between = ((voice.envelope[step &+ 1] &- low) &* Int32(truncatingIfNeeded: position & 0x7FFF)) >> 15
        return ((low &+ between) &* note.loudness) >> 15
    }

    /// Begins without a click and fades out over the last second and a half.
    private func faded(_ sum: Int, at index: Int) -> Int {
        if index >= Self.opening, index < Self.sampleCount - Self.closing { return sum }
        if index < Self.opening { return sum * index / Self.opening }
        return sum * (Self.sampleCount - index) / Self.closing
    }

    private static let opening = SampleRate.perSecond / 100
    private static let closing = SampleRate.perSecond * 3 / 2

    private func firstNote(startingFrom start: Int) -> Int {
        var (low, high) = (0, notes.count)
        while low < high {
            let middle = (low + high) / 2
            if notes[middle].start < start { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
