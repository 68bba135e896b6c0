import HTTPCore
import TestSupport
import Testing

struct FieldValueTests {
    @Test("Values that look alike are different, and survive conversion to text")
    func lookAlikes() {
        for pair in LookAlikes.pairs {
            let (first, second) = (FieldValue(bytes: pair.first), FieldValue(bytes: pair.second))
            #expect(first != second && first.latin1 != second.latin1, "\(pair.name)")
            for value in [first, second] { #expect(FieldValue(latin1: value.latin1) == value, "\(pair.name)") }
        }
        let all = FieldValue(bytes: Array(UInt8(0x20)...0xff))
        #expect(FieldValue(latin1: all.latin1) == all)
        #expect(FieldValue(latin1: "\u{e9}").bytes == [0xe9] && FieldValue("\u{e9}").bytes == [0xc3, 0xa9])
        // Text outside ISO-8859-1 is kept unchanged.
        #expect(FieldValue(latin1: "日本").bytes == Array("日本".utf8))
    }

    @Test("Sections return values as they were sent")
    func sent() {
        var fields = Fields()
        let sent: [UInt8] = [0x20, 0x22, 0xe9, 0x22]
        fields.append(.etag, bytes: sent.span)
        #expect(fields.value(.etag)?.bytes == [0x22, 0xe9, 0x22])
        #expect(fields.value(.date) == nil)
        #expect(EntityTag(parsing: [0x57, 0x2f, 0x22, 0xe9, 0x22][...])?.isWeak == true)
    }
}
