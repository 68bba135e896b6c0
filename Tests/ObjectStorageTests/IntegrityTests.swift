import HTTPClient
import HTTPCore
import System
import TestSupport
import Testing

@testable import ObjectStorage

/// Contents that change on the way, services that check little, and services with another time.
@Suite(.timeLimit(.minutes(2)))
struct IntegrityTests {
    let client: HTTPClient

    init() throws {
        client = try HTTPClient()
    }

    private func storage(_ service: LaxService) throws -> ObjectStorage {
        try ObjectStorage(service.origin, client: client) {
            $0.singleUpload = 1000
            $0.partLength = 1000
        }
    }

    private static func manners(_ change: (inout LaxService.Manners) -> Void) -> LaxService.Manners {
        var manners = LaxService.Manners()
        change(&manners)
        return manners
    }

    static let checking = [
        manners {
            $0.comparesSHA256 = true
            $0.tagsAreMD5 = false
        },
        manners {
            $0.comparesMD5 = true
            $0.tagsAreMD5 = false
        },
        manners { _ in },
    ]

    @Test(
        "Notices a byte that changes on the way, whole or in parts, if the service compares any digest or returns one",
        arguments: checking.indices, [500, 2500])
    func changedByte(manners: Int, length: Int) async throws {
        let service = try LaxService(Self.checking[manners])
        let storage = try storage(service)
        try await storage.tryUpload(to: "trial")
        #expect(service.objects == [:])
        let content = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        let upload = try Upload(content)
        try await storage.upload(upload, to: "right")
        #expect(service.objects == ["/bucket/p/right": content])
        service.changeBytes()
        let error = await failure { () async throws(ObjectStorageError) in try await storage.upload(upload, to: "wrong") }
        #expect(error == .contentMismatch)
    }

    @Test("Sends no MD5 to a service that compares the SHA-256", arguments: [true, false])
    func sentDigests(comparesSHA256: Bool) async throws {
        let service = try LaxService(Self.manners { $0.comparesSHA256 = comparesSHA256 })
        let storage = try storage(service)
        try await storage.tryUpload(to: "trial")
        let before = service.origin.requests.count
        for length in [500, 2500] { try await storage.upload(Upload([UInt8](repeating: 7, count: length)), to: "k") }
        for request in service.origin.requests.dropFirst(before) where request.method == "PUT" {
            #expect(request["Content-MD5"] == (comparesSHA256 ? nil : Base64.encode(FaultTests.digest(request.body))))
            #expect(request["x-amz-content-sha256"] == Hexadecimal.encode(SHA256.digest(of: request.body)))
        }
    }

    @Test("A trial does not succeed while bytes change on the way", arguments: checking.indices)
    func brokenTrial(manners: Int) async throws {
        let service = try LaxService(Self.checking[manners])
        service.changeBytes()
        let storage = try storage(service)
        let error = await failure { () async throws(ObjectStorageError) in try await storage.tryUpload(to: "trial") }
        #expect(error == .unavailable("bytes change on the way to it or back"))
        #expect(service.objects == [:])
    }

    @Test("Does not send a file that has changed since it was verified", arguments: [500, 2500])
    func changedFile(length: Int) async throws {
        let service = try LaxService(Self.manners { $0.comparesMD5 = true })
        let storage = try storage(service)
        let upload = try Upload([UInt8](repeating: 7, count: length))
        var (parts, whole) = (PartDigests(limits: storage.limits), SHA256())
        unsafe parts.update([UInt8](repeating: 7, count: length).span.bytes, with: &whole)
        unsafe try upload.file.write([1].span.bytes, at: Int64(length - 1))
        let error = await failure { () async throws(ObjectStorageError) in
            try await storage.upload(
                upload.file, length: upload.length, sha256: upload.sha256, parts: parts.digests, to: "k", mediaType: nil)
        }
        #expect(error == .contentMismatch)
        #expect(service.objects == [:])
    }

    @Test("Tags that are no digests prove nothing, and contradict nothing")
    func tagsWithoutMeaning() {
        let digests = ContentDigests.of([1, 2, 3])
        var traits = ServiceTraits()
        #expect(!traits.contradicts("5289df737df57326fcdd22597afb1fac", digests))
        traits.tagsAreMD5 = true
        #expect(!traits.contradicts("5289df737df57326fcdd22597afb1fac", digests))
        #expect(traits.contradicts("5289df737df57326fcdd22597afb1fad", digests))
        #expect(!traits.contradicts("other", ContentDigests(sha256: digests.sha256)))
    }

    @Test("The root of a document may have any name")
    func roots() async throws {
        let service = try LaxService(
            Self.manners { $0.roots = ("InitiateMultipartUpload", "ListObjectsV2Result", "ListUploads") })
        let storage = try storage(service)
        try await storage.upload(Upload([UInt8](repeating: 7, count: 2500)), to: "k")
        #expect(service.objects["/bucket/p/k"]?.count == 2500)
        #expect(try await storage.list().items == [])
        #expect(try await storage.unfinishedUploads().items == [])
    }

    @Test("A value is found within another element, and a page of another program is no empty list")
    func nested() async throws {
        let nested = try ScriptedOrigin { _ in
            [FaultTests.document("<a><b/><c><IsTruncated>false</IsTruncated><MaxUploads>9</MaxUploads></c></a>")]
        }
        #expect(try await ObjectStorage(nested, client: client).list().items == [])
        #expect(try await ObjectStorage(nested, client: client).unfinishedUploads().items == [])
        let page = try ScriptedOrigin { _ in [FaultTests.document("<html><body><p>Please log in</p></body></html>")] }
        let storage = try ObjectStorage(page, client: client)
        for call in [{ _ = try await storage.list() }, { _ = try await storage.unfinishedUploads() }] as [() async throws -> Void]
        {
            await #expect(throws: ObjectStorageError.self) { try await call() }
        }
    }

    @Test("Computes the SHA-256 of an object from its ranges")
    func objectDigest() async throws {
        let service = try LaxService(LaxService.Manners())
        let storage = try ObjectStorage(service.origin, client: client)
        let content = (0..<(9 << 20) + 5).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        try await storage.upload(Upload(content), to: "k")
        #expect(try await storage.sha256(of: "k", length: Int64(content.count)) == SHA256.digest(of: content))
        #expect(try await storage.sha256(of: "k", length: 0) == SHA256.digest(of: []))
        #expect(try await storage.sha256(of: "other", length: 5) == nil)
    }

    @Test("Signs by the service's clock", arguments: [75, 840, -840, 100_000] as [Int64])
    func clock(lead: Int64) async throws {
        let service = try LaxService(
            Self.manners {
                $0.lead = lead
                $0.comparesTime = abs(lead) > 900
            })
        let storage = try storage(service)
        #expect(storage.clockLead == 0)
        _ = try await storage.list()
        #expect(abs(storage.clockLead - lead) < 3)
        let time = Timestamp(millisecondsSinceEpoch: SystemTime.sinceEpoch / 1_000_000 + lead * 1000)
        #expect(abs(storage.now.millisecondsSinceEpoch - time.millisecondsSinceEpoch) < 5000)
        #expect(storage.hurried(within: .seconds(3)).clockLead == storage.clockLead)
        try await storage.upload(Upload([1]), to: "k")
        #expect(service.origin.requests.count == (abs(lead) > 900 ? 3 : 2))
    }

    @Test(
        "Ignores small differences, and times of slow responses",
        arguments: [
            (100, 100, 0, 0), (105, 100, 0, 0), (95, 100, 0, 0), (106, 100, 0, 6), (30, 100, 0, -70), (175, 100, 2000, 75),
            (175, 100, 2001, 0),
        ] as [(Int64, Int64, Int, Int64)])
    func clockDifferences(date: Int64, now: Int64, milliseconds: Int, lead: Int64) {
        var clock = StorageClock()
        clock.note(date, at: now, after: .milliseconds(milliseconds))
        #expect(clock.lead == lead)
        // The clock is set.
        clock.note(now, at: now, after: .zero)
        #expect(clock.lead == 0)
    }
}
