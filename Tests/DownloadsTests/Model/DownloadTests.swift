import HTTPCore
import Testing

@testable import DownloadCore

struct DownloadTests {
    @Test("A finished download uses less than a KiB")
    func finishedDownloadIsSmall() {
        #expect(MemoryLayout<Download>.size <= 192)
        #expect(MemoryLayout<DownloadRecord>.size <= 200)
    }

    @Test(
        "Progress is the received fraction",
        arguments: [
            (.downloading, 50, 100, 0.5), (.queued, 0, 100, 0), (.downloading, 150, 100, 1), (.downloading, 5, nil, nil),
            (.downloading, 0, 0, 0), (.completed, 0, 0, 1), (.completed, 5, 5, 1),
        ] as [(DownloadState, Int64, Int64?, Double?)])
    func progressIsArrivedPart(
        _ state: DownloadState, _ received: Int64, _ total: Int64?, _ expected: Double?
    ) {
        var download = sampleRecord(1, state: state).download
        download.bytesReceived = received
        download.bytesTotal = total
        #expect(download.progress == expected)
    }

    @Test(
        "The remaining time needs a total and a speed",
        arguments: [
            (.downloading, 50, 100, 25, 2), (.downloading, 50, 100, 0, nil), (.paused, 50, 100, 25, nil),
            (.downloading, 50, nil, 25, nil), (.downloading, 100, 50, 25, 0), (.downloading, -5, .max, 25, nil),
        ] as [(DownloadState, Int64, Int64?, Int64, Double?)])
    func remainingTimeNeedsTotalAndSpeed(
        _ state: DownloadState, _ received: Int64, _ total: Int64?, _ speed: Int64, _ expected: Double?
    ) {
        var download = sampleRecord(1, state: state).download
        download.bytesReceived = received
        download.bytesTotal = total
        download.bytesPerSecond = speed
        #expect(download.etaSeconds == expected)
    }

    @Test("Keeps a digest, and an invalid one clears it")
    func digestIsKeptOrCleared() {
        var download = sampleRecord(1).download
        download.sha256 = ChecksumTests.hex
        #expect(download.sha256 == ChecksumTests.hex)
        #expect(download.sha256Bytes?.first == 0xE3)
        download.sha256 = "abc"
        #expect(download.sha256 == nil)
    }

    @Test("Copies are independent")
    func copiesAreIndependent() {
        var one = fullRecord()
        let two = one
        one.download.labels = []
        one.headers = []
        #expect(portrait(two) == portrait(fullRecord()))
        #expect(one.download.labels.isEmpty && one.headers.isEmpty)
    }

    @Test("A finished record has no secrets")
    func finishedRecordForgetsSecrets() {
        var record = fullRecord()
        record.forgetTransfer()
        #expect(record.headers.isEmpty && record.segments.isEmpty && record.entity == nil)
        #expect(record.webhook != nil)
    }

    @Test("A new download becomes a record with all requested values")
    func newDownloadBecomesRecord() throws {
        let url = try #require(HTTPURL("https://example.com/a"))
        var new = NewDownload(url: url)
        new.filename = "x.bin"
        new.headers = .of(["Cookie": "a=b"])
        new.mediaType = "audio/*"
        new.mirrors = [url]
        new.priority = 3
        new.labels = ["l"]
        new.speedLimit = 5
        new.segments = 2
        new.startsPaused = true
        new.webhook = url
        let id = RecordID(value: 7 << 80)
        let record = DownloadRecord(new, id: id, at: Timestamp(millisecondsSinceEpoch: 9))
        #expect(record.download.state == .paused)
        #expect(record.download.createdAt.millisecondsSinceEpoch == 9)
        #expect(record.download.filename == "x.bin" && record.requestedFilename == "x.bin")
        #expect(record.headers == [RequestHeader(name: "Cookie", value: "a=b")])
        #expect(record.requestedMediaType == "audio/*" && record.requestedSegments == 2)
        #expect(record.mirrors == [url.string] && record.webhook == url.string)
        #expect(record.download.priority == 3 && record.download.labels == ["l"] && record.download.speedLimit == 5)
    }
}
