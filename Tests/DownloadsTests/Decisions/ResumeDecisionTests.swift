import HTTPCore
import Testing

@testable import DownloadCore

struct ResumeDecisionTests {
    static let tag: FieldValue = #""v1""#
    static let modified: FieldValue = "Sat, 21 Nov 2026 09:00:00 GMT"
    static let date = "Sat, 21 Nov 2026 10:00:00 GMT"
    static let tagged = SavedEntity(etag: tag, total: 100_000)
    static let refusals = [304, 400, 403, 405, 406, 409, 412, 413, 414, 416, 417, 422, 428, 431, 500, 501]
    static let dated = SavedEntity(lastModified: modified, date: date, total: 100_000)

    /// The first byte of the ranges that continue 40,000 bytes: 16 KiB before them.
    static let start: Int64 = 23_616
    static let unproven = "the origin sent no validator that proves its bytes"

    typealias Ask = ResumeDecision.Ask

    /// A head with some members set.
    static func head(_ status: Int, _ change: (inout OriginResponse) -> Void = { _ in }) -> OriginResponse {
        var head = OriginResponse(status: status)
        change(&head)
        return head
    }

    /// The 206 that continues `tagged` at 40, with some members changed.
    static func part(_ change: (inout OriginResponse) -> Void = { _ in }) -> OriginResponse {
        var head = OriginResponse(status: 206)
        head.etag = tag
        head.contentRange = "bytes 23616-99999/100000"
        head.contentLength = 76_384
        change(&head)
        return head
    }

    /// The 200 that brings the whole of `tagged`, with some members changed.
    static func whole(_ change: (inout OriginResponse) -> Void = { _ in }) -> OriginResponse {
        var head = OriginResponse(status: 200)
        head.etag = tag
        head.contentLength = 100_000
        change(&head)
        return head
    }

    /// A decision that has asked for the rest of the entity.
    private func resuming(_ entity: SavedEntity = tagged, at offset: Int64 = 40_000) -> ResumeDecision {
        var decision = ResumeDecision()
        _ = decision.begin(entity: entity, offset: offset)
        return decision
    }

    // MARK: - Requests (rules 1, 2 and 8)

    @Test(
        "An attempt requests the missing bytes only with a validator",
        arguments: [
            (nil, 0, .ask(Ask())),
            (nil, 40_000, .ask(Ask(discards: "the origin of its bytes is unknown"))),
            (tagged, 0, .ask(Ask())),
            (tagged, -1, .ask(Ask())),
            (tagged, 40_000, .ask(Ask(offset: start, ifRange: tag, isRange: true))),
            (dated, 40_000, .ask(Ask(offset: start, ifRange: modified, isRange: true))),
            (SavedEntity(etag: tag), 40_000, .ask(Ask(offset: start, ifRange: tag, isRange: true))),
            (SavedEntity(total: 100_000), 40_000, .ask(Ask(discards: unproven))),
            (SavedEntity(etag: #"W/"v1""#, total: 100_000), 40_000, .ask(Ask(discards: unproven))),
            // A date beside a weak or malformed tag counts, without If-Range.
            (
                SavedEntity(etag: #"W/"v1""#, lastModified: modified, date: date, total: 100_000), 40_000,
                .ask(Ask(offset: start, isRange: true))
            ),
            (
                SavedEntity(etag: "v1", lastModified: modified, date: date, total: 100_000), 40_000,
                .ask(Ask(offset: start, isRange: true))
            ),
            // The overlap is at most what is there.
            (tagged, 100, .ask(Ask(offset: 0, ifRange: tag, isRange: true))),
            // The file was younger than two seconds.
            (
                SavedEntity(etag: tag, lastModified: modified, date: "Sat, 21 Nov 2026 09:00:01 GMT", total: 100_000), 40_000,
                .ask(Ask(discards: unproven))
            ),
            // A saved coding is the file's own.
            (
                SavedEntity(etag: tag, total: 100_000, coding: "gzip"), 40_000,
                .ask(Ask(offset: start, ifRange: tag, isRange: true))
            ),
            (tagged, 100_000, .complete),
            (SavedEntity(total: 100_000), 100_000, .complete),
            (tagged, 100_001, .ask(Ask(discards: "it has more bytes than the file"))),
        ] as [(SavedEntity?, Int64, ResumeDecision.Beginning)])
    func restNeedsValidator(
        _ entity: SavedEntity?, _ offset: Int64, _ expected: ResumeDecision.Beginning
    ) {
        var decision = ResumeDecision()
        #expect(decision.begin(entity: entity, offset: offset) == expected)
    }

    @Test("A request is written as its fields")
    func questionBecomesFields() {
        #expect(Ask(offset: Self.start, ifRange: Self.tag, isRange: true).range == "bytes=23616-")
        #expect(Ask().range == nil)
    }

    // MARK: - 206 (rule 3)

    @Test(
        "Appends a range that agrees in everything",
        arguments: [
            part(),
            part { $0.contentLength = nil },
            part { $0.contentEncoding = "identity" },
            // There is no saved value to differ from.
            part { $0.lastModified = "whatever" },
        ])
    func agreeingPartIsAppended(_ head: OriginResponse) {
        var decision = resuming()
        #expect(
            decision.evaluate(head)
                == .append(ResumeDecision.Body(offset: Self.start, end: 100_000, entity: Self.tagged, isResumable: true)))
    }

    @Test(
        "A range that proves nothing makes way for the whole file, and the second one for good",
        arguments: [
            ("a start before", part { $0.contentRange = "bytes 23615-99999/100000" }),
            ("a start behind", part { $0.contentRange = "bytes 40000-99999/100000" }),
            ("another length", part { $0.contentRange = "bytes 23616-99999/100001" }),
            ("an unknown length", part { $0.contentRange = "bytes 23616-99999/*" }),
            ("no range", part { $0.contentRange = nil }),
            ("no valid range", part { $0.contentRange = "bytes 23616-99999" }),
            ("another unit", part { $0.contentRange = "lines 23616-99999/100000" }),
            ("the range of a 416", part { $0.contentRange = "bytes */100000" }),
            ("another length of its own", part { $0.contentLength = 76_385 }),
            ("another tag", part { $0.etag = #""v2""# }),
            // RFC 9110 §15.3.7: a 206 carries the ETag that the 200 would.
            ("no tag", part { $0.etag = nil }),
            ("the same tag, weak", part { $0.etag = #"W/"v1""# }),
            ("several parts", part { $0.contentType = "multipart/byteranges; boundary=x" }),
            ("a coding", part { $0.contentEncoding = "gzip" }),
        ])
    func partWithoutProof(_ name: String, _ head: OriginResponse) {
        var decision = resuming()
        #expect(decision.evaluate(head) == .askAgain(Ask()), "\(name): the whole file, and the bytes stay")
        let body = ResumeDecision.Body(offset: 0, end: 100_000, entity: Self.tagged, isResumable: false)
        #expect(decision.evaluate(Self.whole()) == .append(body))

        // Bytes arrived, the transfer broke, and the origin does the same again: it counts as one without ranges.
        #expect(
            decision.begin(entity: Self.tagged, offset: 40_000)
                == .ask(Ask(offset: Self.start, ifRange: Self.tag, isRange: true)))
        #expect(decision.evaluate(head) == .askAgain(Ask()))
        #expect(decision.evaluate(Self.whole()) == .append(body))
        #expect(decision.begin(entity: Self.tagged, offset: 70_000) == .ask(Ask()))
        guard case .restart(let anew) = decision.evaluate(Self.whole { $0.etag = #""v2""# }) else {
            Issue.record("\(name): bytes of another file were kept")
            return
        }
        #expect(!anew.isResumable)
    }

    // MARK: - Different bytes (rule 8)

    @Test("Different bytes under one validator start over once, as one stream")
    func differentBytesStartOverOnce() {
        var decision = resuming()
        _ = decision.evaluate(Self.part())
        guard case .askAgain(let ask) = decision.differs(at: 30_000) else {
            Issue.record("not started over")
            return
        }
        #expect(ask.discards?.contains("30000") == true && ask.range == nil)
        #expect(decision.usesOneStream && decision.hasRestarted)
        _ = decision.evaluate(Self.whole())
        _ = decision.begin(entity: Self.tagged, offset: 40_000)
        _ = decision.evaluate(Self.part())
        guard case .fail(let failure) = decision.differs(at: 30_000) else {
            Issue.record("the second restart was granted")
            return
        }
        #expect(failure.code == .entityChanged && !failure.retryable)
    }

    @Test("A 200 of unknown length that differs was a part, and discards nothing", arguments: [tagged, SavedEntity(etag: tag)])
    func differentBytesOfPossiblePart(_ saved: SavedEntity) {
        var decision = resuming(saved)
        let head = Self.whole { $0.contentLength = nil }
        #expect(decision.evaluate(head) == .askAgain(Ask(offset: Self.start, isRange: true)))
        #expect(
            decision.evaluate(head)
                == .append(ResumeDecision.Body(offset: 0, end: saved.total, entity: saved, isResumable: false)))
        #expect(decision.differs(at: 0) == .askAgain(Ask()))
        #expect(!decision.hasRestarted)
        // The response to a request without a range is the whole.
        _ = decision.evaluate(head)
        guard case .askAgain(let ask) = decision.differs(at: 0), ask.discards != nil else {
            Issue.record("bytes of an unknown version stay")
            return
        }
    }

    @Test(
        "With a tag as validator, a different Last-Modified is a change",
        arguments: [(nil, true), (modified, true), ("Sat, 21 Nov 2026 09:00:01 GMT", false)] as [(FieldValue?, Bool)])
    func changedDateBesideTagIsChange(
        _ lastModified: FieldValue?, _ isTaken: Bool
    ) {
        let entity = SavedEntity(etag: Self.tag, lastModified: Self.modified, date: Self.date, total: 100_000)
        var decision = resuming(entity)
        switch decision.evaluate(Self.part { $0.lastModified = lastModified }) {
        case .append(let body): #expect(isTaken && body.entity == entity)
        case .askAgain(let ask): #expect(!isTaken && ask == Ask())
        default: Issue.record("neither")
        }
    }

    @Test(
        "With a date beside a weak tag, the tag must stay, and the date may be missing",
        arguments: [(#"W/"v1""#, nil, true), (#"W/"v1""#, modified, true), (#"W/"v2""#, modified, false), (nil, modified, false)]
            as [(FieldValue?, FieldValue?, Bool)])
    func dateBesideWeakTag(_ tag: FieldValue?, _ lastModified: FieldValue?, _ isTaken: Bool) {
        let entity = SavedEntity(etag: #"W/"v1""#, lastModified: Self.modified, date: Self.date, total: 100_000)
        var decision = resuming(entity)
        let head = Self.part {
            $0.etag = tag
            $0.lastModified = lastModified
        }
        switch decision.evaluate(head) {
        case .append(let body): #expect(isTaken && body.entity == entity)
        case .askAgain(let ask): #expect(!isTaken && ask == Ask())
        default: Issue.record("neither")
        }
    }

    @Test(
        "With a date as validator, the date must stay and no tag may appear",
        arguments: [
            (part { $0.etag = nil }, true),
            (
                part {
                    $0.etag = nil
                    $0.lastModified = modified
                }, true
            ),
            (
                part {
                    $0.etag = nil
                    $0.lastModified = "Sat, 21 Nov 2026 09:00:01 GMT"
                }, false
            ),
            (part { $0.lastModified = modified }, false),
        ])
    func dateAsValidatorMustStay(_ head: OriginResponse, _ isTaken: Bool) {
        var decision = resuming(Self.dated)
        switch decision.evaluate(head) {
        case .append(let body): #expect(isTaken && body.entity == Self.dated)
        case .askAgain(let ask): #expect(!isTaken && ask == Ask())
        default: Issue.record("neither")
        }
    }

    @Test("Learns an unknown length from the range")
    func lengthIsLearntFromPart() {
        var decision = resuming(SavedEntity(etag: Self.tag))
        #expect(
            decision.evaluate(Self.part())
                == .append(ResumeDecision.Body(offset: Self.start, end: 100_000, entity: Self.tagged, isResumable: true)))
        var unknown = resuming(SavedEntity(etag: Self.tag))
        #expect(unknown.evaluate(Self.part { $0.contentRange = "bytes 23616-99999/*" }) == .askAgain(Ask()))
    }

    @Test(
        "The first bytes of a 200 to a range are compared with present ones, unless it has the file's length",
        arguments: [
            (40_000, whole { $0.contentLength = nil }, true), (40_000, whole { $0.contentLength = 76_384 }, true),
            (40_000, whole(), false), (10_000, whole { $0.contentLength = nil }, false), (0, whole(), false),
            (40_000, part(), false),
        ] as [(Int64, OriginResponse, Bool)])
    func repeatedBytes(_ offset: Int64, _ head: OriginResponse, _ areCompared: Bool) {
        let decision = resuming(at: offset)
        #expect(decision.repeatedBytes(in: head) == (areCompared ? offset - ResumeDecision.overlap..<offset : nil))
    }

    @Test("An origin that sends slices of the file brings new bytes after a part that only repeats present ones")
    func slices() {
        var decision = resuming()
        for _ in 0..<2 {
            let overlap = Self.part {
                $0.contentRange = "bytes 23616-39999/100000"
                $0.contentLength = 16_384
            }
            let repetition = ResumeDecision.Body(offset: Self.start, end: 40_000, entity: Self.tagged, isResumable: true)
            #expect(decision.evaluate(overlap) == .append(repetition))
            #expect(decision.ended(at: 40_000) == .askAgain(Ask(offset: 40_000, ifRange: Self.tag, isRange: true)))
            #expect(decision.repeatedBytes(in: Self.whole { $0.contentLength = nil }) == nil)
            var other = decision
            let slice = Self.part {
                $0.contentRange = "bytes 40000-59999/100000"
                $0.contentLength = 20_000
            }
            guard case .append = other.evaluate(slice) else {
                Issue.record("the slice is not taken")
                return
            }
            #expect(other.ended(at: 60_000) == .askAgain(Ask(offset: 43_616, ifRange: Self.tag, isRange: true)))
            guard case .fail = decision.ended(at: 40_000) else {
                Issue.record("asked again for bytes that do not come")
                return
            }
            _ = decision.begin(entity: Self.tagged, offset: 40_000)
        }
    }

    @Test("An origin that sends few bytes of each range brings new ones at the second request", arguments: [1, 8_192, 16_385])
    func tinyParts(count: Int64) {
        var decision = resuming()
        for start in [Self.start, 40_000 - count / 2] {
            let head = Self.part {
                $0.contentRange = "bytes \(start)-\(start + count - 1)/100000"
                $0.contentLength = count
            }
            let body = ResumeDecision.Body(offset: start, end: start + count, entity: Self.tagged, isResumable: true)
            #expect(decision.evaluate(head) == .append(body))
            guard case .ask(let ask) = decision.begin(entity: Self.tagged, offset: 40_000) else { continue }
            #expect(ask.offset == 40_000 - count / 2)
        }
    }

    @Test("A range that ends early is continued in the same attempt")
    func shortPartIsContinued() {
        var decision = resuming()
        let head = Self.part {
            $0.contentRange = "bytes 23616-59999/100000"
            $0.contentLength = 36_384
        }
        #expect(
            decision.evaluate(head)
                == .append(ResumeDecision.Body(offset: Self.start, end: 60_000, entity: Self.tagged, isResumable: true)))
        #expect(decision.ended(at: 60_000) == .askAgain(Ask(offset: 43_616, ifRange: Self.tag, isRange: true)))
        let rest = Self.part {
            $0.contentRange = "bytes 43616-99999/100000"
            $0.contentLength = 56_384
        }
        #expect(
            decision.evaluate(rest)
                == .append(ResumeDecision.Body(offset: 43_616, end: 100_000, entity: Self.tagged, isResumable: true)))
        #expect(decision.ended(at: 100_000) == .complete(total: 100_000))
    }

    // MARK: - 200 (rule 4)

    @Test("Accepts a first response with its validators")
    func firstResponseBringsValidators() {
        var decision = ResumeDecision()
        _ = decision.begin(entity: nil, offset: 0)
        let entity = SavedEntity(etag: Self.tag, lastModified: Self.modified, date: Self.date, total: 100_000)
        let head = Self.whole {
            $0.lastModified = Self.modified
            $0.date = Self.date
        }
        #expect(
            decision.evaluate(head)
                == .restart(ResumeDecision.Body(offset: 0, end: 100_000, entity: entity, isResumable: true)))
        #expect(!decision.hasRestarted)
    }

    @Test(
        "A response shows whether the download can be resumed",
        arguments: [
            (whole(), true),
            (whole { $0.acceptRanges = "bytes" }, true),
            (whole { $0.acceptRanges = "none" }, false),
            (whole { $0.etag = #"W/"v1""# }, false),
            (whole { $0.etag = nil }, false),
        ])
    func responseTellsWhetherResumable(_ head: OriginResponse, _ isResumable: Bool) {
        var decision = ResumeDecision()
        _ = decision.begin(entity: nil, offset: 0)
        guard case .restart(let body) = decision.evaluate(head) else {
            Issue.record("not taken")
            return
        }
        #expect(body.isResumable == isResumable)
    }

    @Test(
        "A whole file in place of a range is read from its start, with its validators",
        arguments: [
            ("a new tag", tagged, whole { $0.etag = #""v2""# }),
            ("the tag turned weak", tagged, whole { $0.etag = #"W/"v1""# }),
            ("no tag any more", tagged, whole { $0.etag = nil }),
            (
                "a new length", tagged,
                whole {
                    $0.etag = #""v2""#; $0.contentLength = 120_000
                }
            ),
        ])
    func wholeFileInPlaceOfPart(
        _ name: String, _ saved: SavedEntity, _ head: OriginResponse
    ) {
        var decision = resuming(saved)
        guard case .restart(let body) = decision.evaluate(head) else {
            Issue.record("\(name): not taken")
            return
        }
        #expect(body.offset == 0)
        #expect(body.entity == head.entity)
        #expect(body.end == head.contentLength)
    }

    @Test(
        "A 200 that may be a part is not the whole file",
        arguments: [
            whole {
                $0.contentRange = "bytes 23616-99999/100000"
                $0.contentLength = 76_384
            }, whole { $0.contentRange = "bytes 0-99999/*" }, whole { $0.contentRange = "bytes=23616-" },
            // The length of the requested range, under whatever tag.
            whole { $0.contentLength = 76_384 },
            whole {
                $0.etag = nil
                $0.contentLength = 76_384
            },
            whole {
                $0.etag = #""v2""#
                $0.contentLength = 76_384
            },
            // The same version cannot have another length.
            whole { $0.contentLength = 99_999 },
        ])
    func possiblePart(_ head: OriginResponse) {
        var decision = resuming()
        #expect(decision.evaluate(head) == .askAgain(Ask()))
        #expect(decision.savedEntity == Self.tagged)
    }

    @Test("A 200 to a request without a range is an error if it has the Content-Range of a part")
    func partForWhole() {
        for (range, isTaken) in [("bytes 5-9/10", false), ("bytes 0-4/10", false), ("bytes 0-9/10", true), ("nonsense", true)] {
            var decision = ResumeDecision()
            _ = decision.begin(entity: nil, offset: 0)
            if case .restart = decision.evaluate(Self.whole { $0.contentRange = range }) {
                #expect(isTaken, "\(range)")
            } else {
                #expect(!isTaken, "\(range)")
            }
        }
    }

    @Test("An empty 200 in place of the rest is a broken transfer", arguments: [tagged.etag, #""v2""#, nil])
    func emptyFile(_ etag: FieldValue?) {
        var decision = resuming()
        let head = Self.whole {
            $0.etag = etag
            $0.contentLength = 0
        }
        guard case .fail(let failure) = decision.evaluate(head) else {
            Issue.record("taken")
            return
        }
        #expect(failure.code == .unexpectedEmpty && failure.retryable)
        #expect(decision.savedEntity == Self.tagged)
    }

    @Test(
        "A 206 with the whole file is taken as a 200",
        arguments: [(nil, true), (40_000, true), (40_000, false)] as [(Int64?, Bool)])
    func wholeInPart(_ offset: Int64?, _ isSame: Bool) {
        var decision = ResumeDecision()
        _ = decision.begin(entity: offset.map { _ in Self.tagged }, offset: offset ?? 0)
        let head = Self.part {
            $0.contentRange = "bytes 0-99999/100000"
            $0.contentLength = 100_000
            if !isSame { $0.etag = #""v2""# }
        }
        switch decision.evaluate(head) {
        case .restart(let body): #expect((offset == nil || !isSame) && body.end == 100_000 && body.entity.etag == head.etag)
        case .askAgain(let ask): #expect(offset != nil && isSame && ask == Ask(offset: Self.start, isRange: true))
        default: Issue.record("refused")
        }
    }

    @Test("Asks an origin without If-Range once more with a plain range")
    func originWithoutIfRange() {
        var decision = resuming()
        #expect(decision.evaluate(Self.whole()) == .askAgain(Ask(offset: Self.start, isRange: true)))
        #expect(
            decision.evaluate(Self.part())
                == .append(ResumeDecision.Body(offset: Self.start, end: 100_000, entity: Self.tagged, isResumable: true)))
    }

    @Test(
        "Verifies the response to a plain range",
        arguments: [
            part { $0.etag = #""v2""# }, part { $0.contentRange = "bytes 23616-119999/120000" },
            // Without proof that this range is of the same file.
            part { $0.etag = nil },
        ])
    func plainRangeIsVerified(_ head: OriginResponse) {
        var decision = resuming()
        _ = decision.evaluate(Self.whole())
        #expect(decision.evaluate(head) == .askAgain(Ask()))
    }

    @Test("A whole file under the saved date is compared with the present bytes")
    func wholeUnderSavedDate() {
        var decision = resuming(Self.dated)
        let head = Self.whole {
            $0.etag = nil
            $0.lastModified = Self.modified
        }
        #expect(
            decision.evaluate(head)
                == .append(ResumeDecision.Body(offset: 0, end: 100_000, entity: Self.dated, isResumable: false)))
        var other = resuming(Self.dated)
        let ranged = head.with { $0.acceptRanges = "bytes" }
        #expect(other.evaluate(ranged) == .askAgain(Ask(offset: Self.start, isRange: true)))
    }

    @Test("An origin without ranges sends the same file from its start, and present bytes stay")
    func originWithoutRanges() {
        var decision = resuming()
        _ = decision.evaluate(Self.whole())
        let body = ResumeDecision.Body(offset: 0, end: 100_000, entity: Self.tagged, isResumable: false)
        #expect(decision.evaluate(Self.whole()) == .append(body))
        // The origin may support ranges next time. Otherwise, one request shows that it does not.
        #expect(
            decision.begin(entity: Self.tagged, offset: 70_000)
                == .ask(Ask(offset: 53_616, ifRange: Self.tag, isRange: true)))
        #expect(decision.evaluate(Self.whole()) == .append(body))
        #expect(
            decision.begin(entity: Self.tagged, offset: 70_000)
                == .ask(Ask(offset: 53_616, ifRange: Self.tag, isRange: true)))
        guard case .restart = decision.evaluate(Self.whole { $0.etag = #""v2""# }) else {
            Issue.record("bytes of another file were kept")
            return
        }
    }

    // MARK: - Other sources (rule 10)

    @Test(
        "Bytes without a validating source must be proved, even if none is missing",
        arguments: [
            (tagged, 100_000, .ask(Ask(offset: 83_616, ifRange: tag, isRange: true))),
            (dated, 100_000, .ask(Ask(offset: 83_616, ifRange: modified, isRange: true))),
            (tagged, 40_000, .ask(Ask(offset: start, ifRange: tag, isRange: true))),
            (SavedEntity(total: 100_000), 100_000, .ask(Ask(discards: unproven))),
            (SavedEntity(etag: tag, total: 1), 1, .ask(Ask(offset: 0, ifRange: tag, isRange: true))),
            (SavedEntity(total: 1), 1, .ask(Ask(discards: unproven))),
        ] as [(SavedEntity, Int64, ResumeDecision.Beginning)])
    func bytesWithoutVoucherProveThemselves(
        _ entity: SavedEntity, _ offset: Int64, _ expected: ResumeDecision.Beginning
    ) {
        var decision = ResumeDecision()
        #expect(decision.begin(entity: entity, offset: offset, isVouchedFor: false) == expected)
    }

    @Test("The repeated last bytes prove the file; any other response does not")
    func lastBytesProveFile() {
        let last = Self.part {
            $0.contentRange = "bytes 83616-99999/100000"
            $0.contentLength = 16_384
        }
        var decision = ResumeDecision()
        _ = decision.begin(entity: Self.tagged, offset: 100_000, isVouchedFor: false)
        #expect(
            decision.evaluate(last)
                == .append(ResumeDecision.Body(offset: 83_616, end: 100_000, entity: Self.tagged, isResumable: true)))
        for other in [last, Self.head(416) { $0.contentRange = "bytes */99999" }] {
            _ = decision.begin(entity: Self.tagged, offset: 100_000, isVouchedFor: false)
            var asked = decision
            #expect(asked.evaluate(other.with { $0.etag = #""v2""# }) == .askAgain(Ask()))
        }
        guard case .restart = decision.evaluate(Self.whole { $0.etag = #""v2""# }) else {
            Issue.record("not begun anew")
            return
        }
    }

    @Test("Observations of a source apply to no other source")
    func sourcesAreSeenApart() {
        var decision = resuming()
        _ = decision.differs(at: 0)
        #expect(decision.usesOneStream && decision.hasRestarted)
        _ = decision.askOtherSource()
        guard case .restart(let body) = decision.evaluate(Self.whole(), from: "http://mirror.example/") else {
            Issue.record("not taken")
            return
        }
        #expect(body.isResumable && body.entity.source == "http://mirror.example/")
        #expect(!decision.usesOneStream && !decision.hasRestarted)
    }

    @Test("After wrong bytes, each source is fetched by one connection, and their targets of redirects are not read again")
    func wrongSources() {
        let failure = DownloadFailure(.checksumMismatch, "wrong")
        let (mirror, target) = ("http://mirror.example/", "http://node.example/a")
        var decision = ResumeDecision(replacing: [mirror, target], because: failure)
        #expect(decision.begin(entity: nil, offset: 0) == .ask(Ask()))
        let wrong = Self.whole { $0.target = target }
        #expect(decision.evaluate(wrong) == .askAgain(Ask()))
        var other = decision
        guard case .restart = other.evaluate(Self.whole { $0.target = "http://other.example/a" }, from: "http://mirror2.example/")
        else {
            Issue.record("another target is not taken")
            return
        }
        #expect(other.usesOneStream)
        #expect(decision.evaluate(wrong) == .askAgain(Ask()))
        #expect(decision.evaluate(wrong) == .fail(failure))
        // Redirects to targets without known faults mean nothing.
        var fresh = ResumeDecision()
        _ = fresh.begin(entity: nil, offset: 0)
        guard case .restart = fresh.evaluate(wrong) else {
            Issue.record("not taken")
            return
        }
    }

    @Test(
        "An end that TLS does not confirm counts once two bodies have had it",
        arguments: [
            ([(50, false), (50, false)], true), ([(50, false), (50, true)], true), ([(50, false), (70, true)], true),
            ([(50, false), (70, false), (70, false)], true), ([(50, false), (70, false), (90, false)], false),
            ([(0, false), (0, false)], true), ([(50, true)], true),
        ] as [([(Int64, Bool)], Bool)])
    func unconfirmedEnd(_ ends: [(position: Int64, isConfirmed: Bool)], _ isComplete: Bool) {
        var decision = ResumeDecision()
        _ = decision.begin(entity: nil, offset: 0)
        for (number, end) in ends.enumerated() {
            let verdict = decision.evaluate(OriginResponse(status: 200))
            // The bytes of the first body stay, and are compared.
            let isNew = number == 0 || ends[number - 1].position == 0
            switch verdict {
            case .restart: #expect(isNew)
            case .append(let body): #expect(!isNew && body.offset == 0)
            default: Issue.record("not taken: \(verdict)")
            }
            switch decision.ended(at: end.position, isConfirmed: end.isConfirmed) {
            case .complete(let total): #expect(isComplete && number == ends.count - 1 && total == end.position)
            case .askAgain(let ask): #expect(number < ends.count - 1 && ask == Ask())
            case .fail(let failure): #expect(!isComplete && number == ends.count - 1 && failure.code == .transferBroken)
            }
        }
    }

    @Test("Leaving a source costs no bytes")
    func abandonedSourceCostsNoBytes() {
        var decision = resuming()
        #expect(decision.replace("http://a.example/") == Ask())
        #expect(decision.replacedSources == ["http://a.example/"])
        #expect(decision.askOtherSource() == Ask())
        #expect(decision.savedEntity == Self.tagged)
    }

    // MARK: - 416 (rule 5)

    @Test("416 means complete only if all three lengths agree")
    func status416MeansCompleteIfLengthsAgree() {
        // A complete file needs no request.
        var decision = ResumeDecision()
        #expect(decision.begin(entity: Self.tagged, offset: 100_000) == .complete)
    }

    @Test(
        "Statuses that may refuse a range lead to the plain range, and then to the whole file",
        arguments: refusals)
    func refusedRange(_ status: Int) {
        var decision = resuming()
        #expect(decision.evaluate(Self.head(status)) == .askAgain(Ask(offset: Self.start, isRange: true)))
        #expect(decision.evaluate(Self.head(status)) == .askAgain(Ask()))
        guard case .fail(let failure) = decision.evaluate(Self.head(status)) else {
            Issue.record("not decided by the response to the request for the whole file")
            return
        }
        #expect(failure.httpStatus == status)
        #expect(decision.savedEntity == Self.tagged)
    }

    @Test("416 with another length asks for the whole file at once", arguments: ["bytes */40000", "bytes */39999"])
    func unsatisfiedRange(_ range: String) {
        for saved in [Self.tagged, SavedEntity(etag: Self.tag)] {
            var decision = resuming(saved)
            #expect(decision.evaluate(Self.head(416) { $0.contentRange = range }) == .askAgain(Ask()))
        }
    }

    @Test("416 to a request without a range is an error")
    func status416WithoutRangeIsError() {
        var decision = ResumeDecision()
        _ = decision.begin(entity: nil, offset: 0)
        guard case .fail(let failure) = decision.evaluate(Self.head(416)) else {
            Issue.record("not an error")
            return
        }
        #expect(failure.code == .httpStatus && failure.httpStatus == 416)
    }

    // MARK: - Errors (rules 1 and 6)

    @Test("Responses without the file are errors, retryable if they may pass", arguments: [0, 40_000])
    func responsesWithoutFileAreErrors(_ offset: Int64) {
        for status in [100, 201, 202, 204, 205, 226, 300, 304, 400, 401, 403, 404, 408, 412, 429, 500, 501, 503, 599] {
            var decision = resuming(at: offset)
            let isAskedAgain = offset > 0 && Self.refusals.contains(status)
            if isAskedAgain { continue }
            guard case .fail(let failure) = decision.evaluate(Self.head(status)) else {
                Issue.record("\(status) is taken")
                continue
            }
            #expect(failure.code == .httpStatus)
            #expect(failure.httpStatus == status)
            #expect(failure.retryable == [408, 429, 500, 503].contains(status))
        }
    }

    @Test("An unrequested range is an error")
    func unaskedPartIsError() {
        var decision = ResumeDecision()
        _ = decision.begin(entity: nil, offset: 0)
        guard case .fail(let failure) = decision.evaluate(Self.part { $0.contentRange = "bytes 0-99998/100000" }) else {
            Issue.record("taken")
            return
        }
        #expect(failure.httpStatus == 206)
        #expect(!failure.retryable)
    }

    @Test(
        "A content coding despite identity is an error",
        arguments: [("gzip", true), ("identity, br", true), ("identity", false), ("", false), ("Identity", false)])
    func contentCodingIsError(_ coding: String, _ isError: Bool) {
        var decision = ResumeDecision()
        _ = decision.begin(entity: nil, offset: 0)
        let verdict = decision.evaluate(Self.whole { $0.contentEncoding = coding })
        if case .fail(let failure) = verdict {
            #expect(isError)
            #expect(failure.code == .unsupportedEncoding)
        } else {
            #expect(!isError)
        }
    }

    // MARK: - The end of a body (rule 6)

    @Test(
        "A whole body ends at its length",
        arguments: [
            (100, 100, .complete(total: 100)),
            (100, 99, .fail(DownloadFailure(.transferBroken, "the transfer ended at byte 99 of 100"))),
            (nil, 77, .complete(total: 77)),
            (nil, 0, .complete(total: 0)),
            (0, 0, .complete(total: 0)),
        ] as [(Int64?, Int64, ResumeDecision.Ending)])
    func wholeBodyEndsAtItsLength(_ length: Int64?, _ position: Int64, _ expected: ResumeDecision.Ending) {
        var decision = ResumeDecision()
        _ = decision.begin(entity: nil, offset: 0)
        _ = decision.evaluate(Self.whole { $0.contentLength = length })
        #expect(decision.ended(at: position) == expected)
    }

    @Test("The end of a body that was never read is an error")
    func endOfUntakenBodyIsError() {
        var decision = resuming()
        guard case .fail = decision.ended(at: 40) else {
            Issue.record("taken")
            return
        }
    }

    /// The digest of the whole file: from the first response, or from a later one if the first had none.
    @Test("A range keeps the file's digest, and may provide it", arguments: [nil, 1], [nil, 1, 2] as [UInt8?])
    func partKeepsDigestOfFile(_ first: UInt8?, _ later: UInt8?) {
        let digest = { (byte: UInt8) in Checksum(.sha256, bytes: [UInt8](repeating: byte, count: 32)) }
        var entity = Self.tagged
        entity.digest = first.flatMap(digest)
        var decision = resuming(entity)
        guard case .append(let body) = decision.evaluate(Self.part { $0.digest = later.flatMap(digest) }) else {
            Issue.record("not appended")
            return
        }
        #expect(body.entity.digest == (first ?? later).flatMap(digest))
        var anew = resuming(entity)
        guard
            case .restart(let whole) = anew.evaluate(
                Self.whole {
                    $0.etag = "\"v2\""
                    $0.digest = later.flatMap(digest)
                })
        else {
            Issue.record("not begun anew")
            return
        }
        #expect(whole.entity.digest == later.flatMap(digest))
    }

    // MARK: - Reading the head

    @Test("Reads a response's fields as they were sent")
    func responseFieldsAreReadAsSent() {
        var fields = Fields()
        fields.append(.etag, Self.tag.latin1)
        fields.append(.lastModified, Self.modified.latin1)
        fields.append(.date, Self.date)
        fields.append(.contentRange, "bytes 40-99/100")
        fields.append(.contentEncoding, "identity")
        fields.append(.contentEncoding, "gzip")
        fields.append(.retryAfter, "7")
        fields.append(FieldName(constant: "Repr-Digest"), "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:")
        let head = OriginResponse(status: .partialContent, fields: fields, contentLength: 60)
        #expect(head.status == 206)
        #expect(
            head.entity
                == SavedEntity(
                    etag: Self.tag, lastModified: Self.modified, date: Self.date, total: 60, coding: "gzip",
                    digest: try? Checksum(parsing: "sha-256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")))
        #expect(head.contentRange == "bytes 40-99/100")
        #expect(head.retryDelay(now: Timestamp(millisecondsSinceEpoch: 0)) == .seconds(7))
    }
}

extension OriginResponse {
    /// Returns the response with some members changed.
    func with(_ change: (inout OriginResponse) -> Void) -> OriginResponse {
        var copy = self
        change(&copy)
        return copy
    }
}

extension OriginResponse {
    /// A response without fields.
    init(status: Int) { self.init(status: HTTPStatus(status), fields: Fields(), contentLength: nil) }
}
