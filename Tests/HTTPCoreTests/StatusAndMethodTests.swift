import Testing

@testable import HTTPCore

@Suite struct StatusAndMethodTests {
    @Test("Clamps codes to three digits")
    func codesAreClampedToThreeDigits() {
        #expect(HTTPStatus(Int.min).code == 100)
        #expect(HTTPStatus(Int.max).code == 999)
        #expect(HTTPStatus(204) == .noContent)
    }

    @Test(
        "A status is displayed with its reason",
        arguments: [
            (HTTPStatus.ok, "200 OK"), (.contentTooLarge, "413 Content Too Large"),
            (.misdirectedRequest, "421 Misdirected Request"),
            (HTTPStatus(599), "599"),
        ])
    func aStatusIsShownWithItsReason(status: HTTPStatus, text: String) {
        #expect(status.description == text)
    }

    @Test("The first digit is the class")
    func theClassIsTheFirstDigit() {
        #expect(HTTPStatus.continue.isInformational)
        #expect(HTTPStatus(502).isServerError)
        #expect(!HTTPStatus(600).isServerError)
        #expect([100, 204, 304].allSatisfy { HTTPStatus($0).forbidsBody })
        #expect([200, 205, 206, 404].allSatisfy { !HTTPStatus($0).forbidsBody })
    }

    @Test("Versions are ordered")
    func versionsAreOrdered() {
        #expect(HTTPVersion.http10 < .http11)
        #expect(HTTPVersion(major: 1, minor: 9) < HTTPVersion(major: 2, minor: 0))
        #expect(HTTPVersion.http11.description == "HTTP/1.1")
    }

    @Test(
        "A refusal has a status and a sentence",
        arguments: [
            (RequestError.targetTooLong(limit: 1), 414), (.headTooLarge(limit: 1), 431), (.tooManyFields(limit: 1), 431),
            (.conflictingFraming, 400), (.bareLineEnd, 400),
            (.unsupportedVersion(HTTPVersion(major: 2, minor: 0)), 505), (.unsupportedExpectation("x"), 417),
            (.contentTooLarge(limit: 1), 413), (.connectRefused, 501),
            (.methodTooLong(limit: 1), 501), (.unsupportedTransferCoding("gzip"), 501), (.trailersTooLarge(limit: 1), 431),
            (.malformedChunk("x"), 400),
        ])
    func aRefusalHasAStatusAndASentence(error: RequestError, code: Int) {
        #expect(error.status.code == code)
        #expect(error.detail.hasSuffix("."))
        #expect(error.description == error.detail)
    }
}
