import HTTPCore
import Testing

@testable import DownloadFiles

struct RemoteTimeTests {
    @Test(
        "A finished file has the time of Last-Modified, unless that is invalid or in the future",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            // The moment itself, and a second later.
            ("Fri, 27 Nov 2026 08:00:00 GMT", 1_795_766_400), ("Fri, 27 Nov 2026 08:00:01 GMT", nil),
            ("Fri, 31 Dec 9999 23:59:59 GMT", nil), ("Wed, 31 Dec 1969 23:59:59 GMT", nil), ("yesterday", nil), ("", nil),
            ("784111777", nil), (nil, nil),
        ] as [(String?, Int64?)])
    func seconds(text: String?, seconds: Int64?) {
        let now = Timestamp(millisecondsSinceEpoch: 1_795_766_400_000)
        #expect(RemoteTime.seconds(of: text.map { FieldValue(latin1: $0) }, now: now) == seconds)
    }
}
