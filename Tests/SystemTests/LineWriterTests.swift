import Testing

@testable import System

@Suite("Lines to a reader that stops", .timeLimit(.minutes(3))) struct LineWriterTests {
    /// A stream whose reader reads only while it is open.
    private final class Target: Sendable {
        private let state = Monitor((isOpen: false, isBroken: false, isWaiting: false, text: [UInt8]()))

        var text: String { state.withLock { (String(decoding: $0.text, as: UTF8.self), wake: false) } }

        func set(isOpen: Bool, isBroken: Bool = false) {
            state.withLock { state in
                (state.isOpen, state.isBroken) = (isOpen, isBroken)
                return ((), wake: true)
            }
        }

        /// Waits until the writer's thread is stopped by the reader.
        func waitForWriter() {
            state.wait { $0.isWaiting ? .done(()) : .wait(.milliseconds(1)) }
        }

        func write(_ bytes: [UInt8]) -> Int {
            state.wait { state in
                if state.isBroken { return .done(0) }
                state.isWaiting = !state.isOpen
                guard state.isOpen else { return .wait(.milliseconds(1)) }
                state.text += bytes
                return .done(bytes.count)
            }
        }
    }

    private func writer(_ target: Target) -> LineWriter {
        LineWriter(write: target.write) { Array("missing: \($0)\n".utf8) }
    }

    @Test("Lines are written in their order")
    func order() {
        let target = Target()
        target.set(isOpen: true)
        let writer = writer(target)
        for number in 0..<1_000 { writer.append(Array("\(number)\n".utf8)) }
        writer.flush(within: .seconds(60))
        #expect(target.text == (0..<1_000).map { "\($0)\n" }.joined())
        #expect(writer.droppedLines == 0)
    }

    @Test("Without a reader, no caller waits; what is missing is counted, and told in its place")
    func dropping() {
        let target = Target()
        let writer = writer(target)
        let line = [UInt8](repeating: 0x61, count: 9_999) + [0x0A]
        writer.append(Array("first\n".utf8))
        target.waitForWriter()
        for _ in 0..<500 { writer.append(line) }
        let kept = LineWriter.capacity / line.count
        #expect(writer.droppedLines == UInt64(500 - kept))
        // Not even a short line overtakes.
        writer.append(Array("late\n".utf8))
        #expect(writer.droppedLines == UInt64(501 - kept))
        writer.flush(within: .milliseconds(1))
        #expect(target.text.isEmpty)
        target.set(isOpen: true)
        writer.flush(within: .seconds(60))
        writer.append(Array("after\n".utf8))
        writer.flush(within: .seconds(60))
        let text = String(decoding: line, as: UTF8.self)
        #expect(target.text == "first\n" + String(repeating: text, count: kept) + "missing: \(501 - kept)\nafter\n")
        #expect(writer.droppedLines == UInt64(501 - kept))
    }

    @Test("Lines that cannot be written are counted, and told once writing works again")
    func failing() {
        let target = Target()
        target.set(isOpen: false, isBroken: true)
        let writer = writer(target)
        for number in 1...3 {
            writer.append(Array("lost \(number)\n".utf8))
            writer.flush(within: .seconds(60))
            #expect(writer.droppedLines == UInt64(number))
        }
        target.set(isOpen: true)
        writer.append(Array("works\n".utf8))
        writer.flush(within: .seconds(60))
        #expect(target.text == "works\nmissing: 3\n")
        #expect(writer.droppedLines == 3)
    }
}
