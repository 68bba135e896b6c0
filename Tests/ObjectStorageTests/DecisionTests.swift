import HTTPCore
import Testing

@testable import HTTPClient
@testable import ObjectStorage

@Suite
struct DecisionTests {
    @Test(
        "Parts grow in whole MiB to limit their number",
        arguments: [
            (64 << 20 + 1, 16 << 20, 5), (10_000 * (16 << 20), 16 << 20, 10_000), (10_000 * (16 << 20) + 1, 17 << 20, 9412),
            (5 << 40, 525 << 20, 9987),
        ] as [(Int64, Int64, Int)])
    func partsGrow(length: Int64, partLength: Int64, count: Int) {
        let plan = UploadPlan(length: length, limits: ObjectStorageLimits())
        #expect(plan.partLength == partLength)
        #expect(plan.count == count)
        var end: Int64 = 0
        for number in 1...plan.count {
            let range = plan.range(ofPart: number)
            #expect(range.lowerBound == end)
            #expect(!range.isEmpty)
            end = range.upperBound
        }
        #expect(end == length)
    }

    @Test("Pauses double up to a limit, with up to half random; attempts end")
    func pausesDouble() {
        let policy = StorageRetryPolicy(tries: 4, firstPause: .seconds(1))
        #expect((1...5).map { policy.pause(afterTry: $0, chance: 0) } == [.seconds(1), .seconds(2), .seconds(4), nil, nil])
        #expect(policy.pause(afterTry: 2, chance: 1) == .seconds(1))
        let patient = StorageRetryPolicy(tries: 1000, firstPause: .seconds(1))
        #expect(patient.pause(afterTry: 999, chance: 0) == .seconds(5))
        #expect(StorageRetryPolicy(tries: 1, firstPause: .seconds(1)).pause(afterTry: 1, chance: 0) == nil)
    }

    @Test(
        "Classifies responses of services",
        arguments: [
            (503, "SlowDown", nil, "unavailable"), (500, "InternalError", nil, "unavailable"), (502, "", nil, "unavailable"),
            (400, "RequestTimeout", nil, "unavailable"), (429, "", nil, "unavailable"),
            (200, "InternalError", nil, "unavailable"),
            (501, "NotImplemented", nil, "refused"), (403, "SignatureDoesNotMatch", nil, "refused"),
            (404, "NoSuchBucket", nil, "refused"),
            (403, "RequestTimeTooSkewed", nil, "clockSkew"), (301, "PermanentRedirect", "eu-west-1", "otherRegion eu-west-1"),
            (307, "", nil, "otherRegion"), (400, "AuthorizationHeaderMalformed", "eu-west-1", "otherRegion eu-west-1"),
            (400, "AuthorizationHeaderMalformed", nil, "refused"), (400, "XAmzContentSHA256Mismatch", nil, "contentMismatch"),
        ] as [(Int, String, String?, String)])
    func faultsAreClassified(status: Int, code: String, region: String?, kind: String) throws {
        let url = try #require(HTTPURL("http://a.example/"))
        let head = ClientResponseHead(status: HTTPStatus(status), fields: Fields(), url: url, contentLength: nil)
        var fault = ServiceFault(ClientResponse(head: head, body: []), nil)
        (fault.code, fault.region) = (code, region)
        let told =
            switch fault.error {
            case .unavailable: "unavailable"
            case .refused(status, code, _): "refused"
            case .clockSkew: "clockSkew"
            case .otherRegion(let region): ["otherRegion", region].compactMap(\.self).joined(separator: " ")
            case .contentMismatch: "contentMismatch"
            default: "\(fault.error)"
            }
        #expect(told == kind)
        #expect(fault.isTransient == (kind == "unavailable"))
        // Ceph sends no messages.
        #expect(!fault.error.message.hasSuffix(": "))
    }

    @Test("The tag of parts is the digest of their digests, if they have any")
    func tagIsDigestOfDigests() {
        // The output of `printf … | xxd -r -p | md5sum` for the two digests.
        let digests = ["5d41402abc4b2a76b9719d911017c592", "7d793037a0760186574b0282f2f435e7"]
        let parts = digests.enumerated().map { UploadedPart(number: $0.offset + 1, tag: $0.element) }
        #expect(UploadedPart.tag(of: parts) == "065947336a2f2a95ba8899f3675c3be6-2")
        #expect(UploadedPart.tag(of: [UploadedPart(number: 1, tag: "abc")]) == nil)
        #expect(UploadedPart.tag(of: [UploadedPart(number: 1, tag: "not hexadecimal")]) == nil)
        let document = String(decoding: UploadedPart.document(of: [UploadedPart(number: 7, tag: "a&<b>")]), as: UTF8.self)
        #expect(document.contains("<Part><PartNumber>7</PartNumber><ETag>&quot;a&amp;&lt;b&gt;&quot;</ETag></Part>"))
    }
}
