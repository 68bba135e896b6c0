import Testing

@testable import Downloads

struct MirrorTaskTests {
    private typealias Standing = MirrorTask.Standing

    private static let failures: [FailureCode] = [
        .httpStatus, .connectionFailed, .transferBroken, .timedOut, .unsupportedEncoding,
    ]

    @Test(arguments: failures)
    func `before a byte is there, another source is asked for everything`(_ failure: FailureCode) {
        #expect(MirrorTask(after: failure, Standing()) == .everything)
        #expect(MirrorTask(after: failure, Standing(total: 100, usesOneStream: true, hasHandedOver: true)) == .everything)
    }

    @Test(arguments: failures)
    func `others bring the rest once, where there is one and ranges can be asked for`(_ failure: FailureCode) {
        let standing = Standing(hasBegun: true, total: 100)
        #expect(MirrorTask(after: failure, standing) == .rest(total: 100))
        let obstacles: [(inout Standing) -> Void] = [
            { $0.total = nil }, { $0.isWhole = true }, { $0.usesOneStream = true }, { $0.hasHandedOver = true },
        ]
        for hinder in obstacles {
            var hindered = standing
            hinder(&hindered)
            #expect(MirrorTask(after: failure, hindered) == .nothing)
        }
    }

    @Test(arguments: [FailureCode.ioError, .insufficientStorage], [true, false])
    func `a failure of this machine is nobody else's to mend`(_ failure: FailureCode, _ hasBegun: Bool) {
        #expect(MirrorTask(after: failure, Standing(hasBegun: hasBegun, total: 100)) == .nothing)
    }

    @Test func `a file that changed under its bytes is not continued by others`() {
        #expect(MirrorTask(after: .entityChanged, Standing(hasBegun: true, total: 100)) == .nothing)
        #expect(MirrorTask(after: .entityChanged, Standing()) == .everything)
    }
}
