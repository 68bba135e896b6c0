import HTTPCore
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadTransfer

/// RFC 9110 §8.8.3.2: validators are compared octet by octet.
@Suite("Validators that look alike") struct LookAlikeTests {
    struct Pair: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let saved: FieldValue
        let sent: FieldValue
    }

    static let pairs: [Pair] = LookAlikes.pairs.flatMap { pair in
        [(pair.first, pair.second), (pair.second, pair.first)].map { saved, sent in
            Pair(testDescription: pair.name, saved: quoted(saved), sent: quoted(sent))
        }
    }

    static func quoted(_ bytes: [UInt8]) -> FieldValue { FieldValue(bytes: [0x22] + bytes + [0x22]) }

    private func response(_ status: Int, etag: FieldValue, range: ClosedRange<Int64>, of total: Int64 = 100_000) -> OriginResponse
    {
        var response = OriginResponse(status: status)
        response.etag = etag
        response.contentLength = status == 206 ? Int64(range.count) : total
        if status == 206 { response.contentRange = "bytes \(range.lowerBound)-\(range.upperBound)/\(total)" }
        return response
    }

    @Test("Does not continue bytes under a tag with other bytes", arguments: pairs)
    func resuming(_ pair: Pair) {
        let entity = SavedEntity(etag: pair.saved, total: 100_000)
        var decision = ResumeDecision()
        #expect(
            decision.begin(entity: entity, offset: 40_000)
                == .ask(ResumeDecision.Ask(offset: 23_616, ifRange: pair.saved, isRange: true)))
        var same = decision
        var whole = decision
        #expect(decision.evaluate(response(206, etag: pair.sent, range: 23_616...99_999)) == .askAgain(.init()))
        guard case .append = same.evaluate(response(206, etag: pair.saved, range: 23_616...99_999)) else {
            Issue.record("the saved tag is not the same")
            return
        }
        guard case .restart = whole.evaluate(response(200, etag: pair.sent, range: 0...99_999)) else {
            Issue.record("not begun anew")
            return
        }
    }

    @Test("Segments under tags with other bytes do not belong together", arguments: pairs)
    func segments(_ pair: Pair) {
        let entity = SavedEntity(etag: pair.saved, total: 100)
        for status in [200, 206] {
            let other = SegmentResponse(
                response(status, etag: pair.sent, range: 40...59, of: 100), range: 40..<60, entity: entity)
            guard case .contradiction = other else {
                Issue.record("\(status): \(other)")
                continue
            }
            let same = SegmentResponse(
                response(status, etag: pair.saved, range: 40...59, of: 100), range: 40..<60, entity: entity)
            #expect(same == (status == 200 ? .whole : .part(end: 60)))
        }
    }

    @Test("A mirror must keep its first tag", arguments: pairs)
    func mirrors(_ pair: Pair) {
        var sources = SourceTable(count: 2)
        let first = response(206, etag: pair.saved, range: 40...59, of: 100)
        sources.note(sources.expectation(of: 1, first, total: 100), of: 1)
        let later = response(206, etag: pair.sent, range: 60...79)
        let expected = sources.expectation(of: 1, later, total: 100)
        guard case .contradiction = SegmentResponse(later, range: 60..<80, entity: expected) else {
            Issue.record("taken")
            return
        }
    }
}
