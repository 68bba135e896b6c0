import HTTPCore
import Testing

@testable import DownloadCore

struct ResumeDecisionTests {
    static let tag: FieldValue = #""v1""#
    static let modified: FieldValue = "Sat, 21 Nov 2026 09:00:00 GMT"
    static let date = "Sat, 21 Nov 2026 10:00:00 GMT"
    static let tagged = SavedEntity(etag: tag, total: 100)
    static let dated = SavedEntity(lastModified: modified, date: date, total: 100)

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
        head.contentRange = "bytes 40-99/100"
        head.contentLength = 60
        change(&head)
        return head
    }

    /// The 200 that brings the whole of `tagged`, with some members changed.
    static func whole(_ change: (inout OriginResponse) -> Void = { _ in }) -> OriginResponse {
        var head = OriginResponse(status: 200)
        head.etag = tag
        head.contentLength = 100
        change(&head)
        return head
    }

    /// A decision that has asked for the rest of the entity.
    private func resuming(_ entity: SavedEntity = tagged, at offset: Int64 = 40) -> ResumeDecision {
        var decision = ResumeDecision()
        _ = decision.begin(entity: entity, offset: offset)
        return decision
    }

    // MARK: - Requests (rules 1, 2 and 8)

    @Test(
        "An attempt requests the missing bytes only with a validator",
        arguments: [
            (nil, 0, .ask(Ask())),
            (nil, 40, .ask(Ask())),
            (tagged, 0, .ask(Ask())),
            (tagged, -1, .ask(Ask())),
            (tagged, 40, .ask(Ask(offset: 40, ifRange: tag))),
            (dated, 40, .ask(Ask(offset: 40, ifRange: modified))),
            (SavedEntity(etag: tag), 40, .ask(Ask(offset: 40, ifRange: tag))),
            (SavedEntity(total: 100), 40, .ask(Ask(discardsBytes: true))),
            (SavedEntity(etag: #"W/"v1""#, total: 100), 40, .ask(Ask(discardsBytes: true))),
            // A saved coding is that of the file itself.
            (SavedEntity(etag: tag, total: 100, coding: "gzip"), 40, .ask(Ask(offset: 40, ifRange: tag))),
            (tagged, 100, .complete),
            (SavedEntity(total: 100), 100, .complete),
            (tagged, 101, .ask(Ask(discardsBytes: true))),
        ] as [(SavedEntity?, Int64, ResumeDecision.Beginning)])
    func restNeedsValidator(
        _ entity: SavedEntity?, _ offset: Int64, _ expected: ResumeDecision.Beginning
    ) {
        var decision = ResumeDecision()
        #expect(decision.begin(entity: entity, offset: offset) == expected)
    }

    @Test("A request is written as its fields")
    func questionBecomesFields() {
        #expect(Ask(offset: 40, ifRange: Self.tag).range == "bytes=40-")
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
                == .append(ResumeDecision.Body(offset: 40, end: 100, entity: Self.tagged, isResumable: true)))
    }

    @Test(
        "A contradictory range starts the download over, once",
        arguments: [
            ("a start before", part { $0.contentRange = "bytes 39-99/100" }),
            ("a start behind", part { $0.contentRange = "bytes 41-99/100" }),
            ("another length", part { $0.contentRange = "bytes 40-99/101" }),
            ("an unknown length", part { $0.contentRange = "bytes 40-99/*" }),
            ("no range", part { $0.contentRange = nil }),
            ("no valid range", part { $0.contentRange = "bytes 40-99" }),
            ("another unit", part { $0.contentRange = "lines 40-99/100" }),
            ("the range of a 416", part { $0.contentRange = "bytes */100" }),
            ("another length of its own", part { $0.contentLength = 61 }),
            ("another tag", part { $0.etag = #""v2""# }),
            // RFC 9110 §15.3.7: a 206 carries the ETag that the 200 would.
            ("no tag", part { $0.etag = nil }),
            ("the same tag, weak", part { $0.etag = #"W/"v1""# }),
            ("several parts", part { $0.contentType = "multipart/byteranges; boundary=x" }),
            ("a coding", part { $0.contentEncoding = "gzip" }),
        ])
    func contradictionStartsOverOnce(_ name: String, _ head: OriginResponse) {
        var decision = resuming()
        #expect(decision.evaluate(head) == .askAgain(Ask(discardsBytes: true)))
        #expect(decision.hasRestarted)
        #expect(
            decision.evaluate(Self.whole())
                == .restart(ResumeDecision.Body(offset: 0, end: 100, entity: Self.tagged, isResumable: true)))

        // Bytes arrived, the transfer broke, and the origin contradicts itself again.
        #expect(decision.begin(entity: Self.tagged, offset: 40) == .ask(Ask(offset: 40, ifRange: Self.tag)))
        guard case .fail(let failure) = decision.evaluate(head) else {
            Issue.record("the second restart was granted")
            return
        }
        #expect(failure.code == .entityChanged)
        #expect(!failure.retryable)
    }

    @Test(
        "With a tag as validator, a different Last-Modified is a change",
        arguments: [(nil, true), (modified, true), ("Sat, 21 Nov 2026 09:00:01 GMT", false)] as [(FieldValue?, Bool)])
    func changedDateBesideTagIsChange(
        _ lastModified: FieldValue?, _ isTaken: Bool
    ) {
        let entity = SavedEntity(etag: Self.tag, lastModified: Self.modified, date: Self.date, total: 100)
        var decision = resuming(entity)
        switch decision.evaluate(Self.part { $0.lastModified = lastModified }) {
        case .append(let body): #expect(isTaken && body.entity == entity)
        case .askAgain(let ask): #expect(!isTaken && ask == Ask(discardsBytes: true))
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
        case .askAgain(let ask): #expect(!isTaken && ask == Ask(discardsBytes: true))
        default: Issue.record("neither")
        }
    }

    @Test("Learns an unknown length from the range")
    func lengthIsLearntFromPart() {
        var decision = resuming(SavedEntity(etag: Self.tag))
        #expect(
            decision.evaluate(Self.part())
                == .append(ResumeDecision.Body(offset: 40, end: 100, entity: Self.tagged, isResumable: true)))
        var unknown = resuming(SavedEntity(etag: Self.tag))
        #expect(unknown.evaluate(Self.part { $0.contentRange = "bytes 40-99/*" }) == .askAgain(Ask(discardsBytes: true)))
    }

    @Test("A range that ends early is continued in the same attempt")
    func shortPartIsContinued() {
        var decision = resuming()
        let head = Self.part {
            $0.contentRange = "bytes 40-59/100"
            $0.contentLength = 20
        }
        #expect(
            decision.evaluate(head)
                == .append(ResumeDecision.Body(offset: 40, end: 60, entity: Self.tagged, isResumable: true)))
        #expect(decision.ended(at: 60) == .askAgain(Ask(offset: 60, ifRange: Self.tag)))
        let rest = Self.part {
            $0.contentRange = "bytes 60-99/100"
            $0.contentLength = 40
        }
        #expect(
            decision.evaluate(rest)
                == .append(ResumeDecision.Body(offset: 60, end: 100, entity: Self.tagged, isResumable: true)))
        #expect(decision.ended(at: 100) == .complete(total: 100))
    }

    // MARK: - 200 (rule 4)

    @Test("Accepts a first response with its validators")
    func firstResponseBringsValidators() {
        var decision = ResumeDecision()
        _ = decision.begin(entity: nil, offset: 0)
        let entity = SavedEntity(etag: Self.tag, lastModified: Self.modified, date: Self.date, total: 100)
        let head = Self.whole {
            $0.lastModified = Self.modified
            $0.date = Self.date
        }
        #expect(
            decision.evaluate(head)
                == .restart(ResumeDecision.Body(offset: 0, end: 100, entity: entity, isResumable: true)))
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
                    $0.etag = #""v2""#; $0.contentLength = 120
                }
            ),
            ("the same tag with another length", tagged, whole { $0.contentLength = 99 }),
            (
                "the same date", dated,
                whole {
                    $0.etag = nil
                    $0.lastModified = modified
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

    @Test("Asks an origin without If-Range once more with a plain range")
    func originWithoutIfRange() {
        var decision = resuming()
        #expect(decision.evaluate(Self.whole()) == .askAgain(Ask(offset: 40)))
        #expect(
            decision.evaluate(Self.part())
                == .append(ResumeDecision.Body(offset: 40, end: 100, entity: Self.tagged, isResumable: true)))
    }

    @Test(
        "Verifies the response to a plain range",
        arguments: [
            part { $0.etag = #""v2""# }, part { $0.contentRange = "bytes 40-119/120" },
            // Without proof that this range is of the same file.
            part { $0.etag = nil },
        ])
    func plainRangeIsVerified(_ head: OriginResponse) {
        var decision = resuming()
        _ = decision.evaluate(Self.whole())
        #expect(decision.evaluate(head) == .askAgain(Ask(discardsBytes: true)))
    }

    @Test("An origin without ranges sends the same file from its start, and present bytes stay")
    func originWithoutRanges() {
        var decision = resuming()
        _ = decision.evaluate(Self.whole())
        let body = ResumeDecision.Body(offset: 0, end: 100, entity: Self.tagged, isResumable: false)
        #expect(decision.evaluate(Self.whole()) == .append(body))
        // The origin may support ranges next time. Otherwise, one request shows that it does not.
        #expect(decision.begin(entity: Self.tagged, offset: 70) == .ask(Ask(offset: 70, ifRange: Self.tag)))
        #expect(decision.evaluate(Self.whole()) == .append(body))
        #expect(decision.begin(entity: Self.tagged, offset: 70) == .ask(Ask(offset: 70, ifRange: Self.tag)))
        guard case .restart = decision.evaluate(Self.whole { $0.etag = #""v2""# }) else {
            Issue.record("bytes of another file were kept")
            return
        }
    }

    // MARK: - Other sources (rule 10)

    @Test(
        "Bytes without a validating source must be proved, even if none is missing",
        arguments: [
            (tagged, 100, .ask(Ask(offset: 99, ifRange: tag))), (dated, 100, .ask(Ask(offset: 99, ifRange: modified))),
            (tagged, 40, .ask(Ask(offset: 40, ifRange: tag))), (SavedEntity(total: 100), 100, .ask(Ask(discardsBytes: true))),
            (SavedEntity(etag: tag, total: 1), 1, .ask(Ask(offset: 0, ifRange: tag, keepsLaterBytes: true))),
            (SavedEntity(total: 1), 1, .ask(Ask())),
        ] as [(SavedEntity, Int64, ResumeDecision.Beginning)])
    func bytesWithoutVoucherProveThemselves(
        _ entity: SavedEntity, _ offset: Int64, _ expected: ResumeDecision.Beginning
    ) {
        var decision = ResumeDecision()
        #expect(decision.begin(entity: entity, offset: offset, isVouchedFor: false) == expected)
    }

    @Test("The repeated last byte proves the file; any other response starts over")
    func lastByteProvesFile() {
        let last = Self.part {
            $0.contentRange = "bytes 99-99/100"
            $0.contentLength = 1
        }
        var decision = ResumeDecision()
        _ = decision.begin(entity: Self.tagged, offset: 100, isVouchedFor: false)
        #expect(
            decision.evaluate(last)
                == .append(ResumeDecision.Body(offset: 99, end: 100, entity: Self.tagged, isResumable: true)))
        for other in [last, Self.head(416) { $0.contentRange = "bytes */99" }] {
            var other = other
            other.etag = #""v2""#
            _ = decision.begin(entity: Self.tagged, offset: 100, isVouchedFor: false)
            var asked = decision
            #expect(asked.evaluate(other) == .askAgain(Ask(discardsBytes: true)))
        }
        guard case .restart = decision.evaluate(Self.whole { $0.etag = #""v2""# }) else {
            Issue.record("not begun anew")
            return
        }
    }

    @Test("Observations of a source apply to no other source")
    func sourcesAreSeenApart() {
        var decision = resuming()
        _ = decision.restartAsOneStream(because: "of a test", httpStatus: 206)
        #expect(decision.usesOneStream && decision.hasRestarted)
        _ = decision.askOtherSource()
        guard case .restart(let body) = decision.evaluate(Self.whole(), from: "http://mirror.example/") else {
            Issue.record("not taken")
            return
        }
        #expect(body.isResumable && body.entity.source == "http://mirror.example/")
        #expect(!decision.usesOneStream && !decision.hasRestarted)
    }

    @Test("Leaving a source costs no bytes")
    func abandonedSourceCostsNoBytes() {
        var decision = resuming()
        var written = Coverage(prefix: 40)
        written.insert(60..<70)
        #expect(decision.replace("http://a.example/", keeping: written) == Ask(offset: 40, keepsLaterBytes: true))
        #expect(decision.replacedSources == ["http://a.example/"])
        #expect(decision.askOtherSource() == Ask())
        #expect(decision.savedEntity == Self.tagged)
    }

    // MARK: - 416 (rule 5)

    @Test("416 means complete only if all three lengths agree")
    func status416MeansCompleteIfLengthsAgree() {
        // A complete file needs no request.
        var decision = ResumeDecision()
        #expect(decision.begin(entity: Self.tagged, offset: 100) == .complete)
    }

    @Test(
        "Any other 416 starts over, once",
        arguments: [
            (tagged, "bytes */100"), (tagged, "bytes */40"), (tagged, "bytes */39"), (tagged, nil), (tagged, "bytes 0-1/40"),
            // No saved value shows that 40 bytes are the whole file.
            (SavedEntity(etag: tag), "bytes */40"),
        ] as [(SavedEntity, String?)])
    func otherStatus416StartsOverOnce(_ saved: SavedEntity, _ range: String?) {
        var decision = resuming(saved)
        let head = Self.head(416) { $0.contentRange = range }
        #expect(decision.evaluate(head) == .askAgain(Ask(discardsBytes: true)))
        _ = decision.begin(entity: saved, offset: 40)
        guard case .fail(let failure) = decision.evaluate(head) else {
            Issue.record("the second restart was granted")
            return
        }
        #expect(failure.code == .entityChanged)
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

    @Test("Responses without the file are errors, retryable if they may pass", arguments: [0, 40])
    func responsesWithoutFileAreErrors(_ offset: Int64) {
        for status in [100, 201, 202, 204, 205, 226, 300, 304, 400, 401, 403, 404, 408, 412, 429, 500, 501, 503, 599] {
            var decision = resuming(at: offset)
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
        guard case .fail(let failure) = decision.evaluate(Self.part { $0.contentRange = "bytes 0-99/100" }) else {
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
