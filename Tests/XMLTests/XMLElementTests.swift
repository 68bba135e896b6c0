import Testing

@testable import XML

@Suite
struct XMLElementTests {
    @Test("Reads elements, text and entities, and skips the rest")
    func documentIsRead() throws {
        let text = """
            \u{FEFF}<?xml version="1.0" encoding="UTF-8"?>
            <!-- <a> --><s3:List xmlns:s3="http://x/>" a='"/>"'>
              <Key>a&amp;b &lt;&gt;&quot;&apos;&#65;&#x1F600;</Key><Empty/><Empty x="y" />
              <Key><![CDATA[<&>]]>é</Key ></s3:List>

            """
        let root = try XMLElement.parse(Array(text.utf8))
        #expect(root.name == "List")
        #expect(root.children.map(\.name) == ["Key", "Empty", "Empty", "Key"])
        #expect(root["Key"]?.text == "a&b <>\"'A😀")
        #expect(root.children.last?.text == "<&>é")
        #expect(root["Missing"] == nil)
    }

    static let hostile: [String] = [
        "", " ", "text", "<", "<a", "<a>", "<a><b></a></b>", "</a>", "<a></b>", "<a/><b/>", "<a></a>x", "x<a/>", "<a b=\"></a>",
        "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>", "<a>&x;</a>", "<a>&#xD800;</a>", "<a>&#x110000;</a>", "<a>&#;</a>",
        "<a>&#99999999999999999999;</a>", "<a>& </a>", "<a>&amp</a>", "<a><![CDATA[x</a>", "<a><!-- x</a>", "<?xml",
        "<a / b></a>",
        "<a <b></a>", "<>x</>", "< a></a>", String(repeating: "<a>", count: 17) + String(repeating: "</a>", count: 17),
        String(repeating: "<a>", count: 1_000_000), "<a>" + String(repeating: "<b/>", count: 100_000) + "</a>",
    ]

    @Test("Refuses documents that are invalid, too deep or too large", arguments: hostile)
    func hostileTextIsRefused(text: String) {
        #expect(throws: XMLReader.ParsingError.self) { try XMLElement.parse(Array(text.utf8)) }
    }

    @Test("Reads or refuses every truncated or mutated document")
    func damagedTextIsHandled() {
        let whole = Array("<?xml?><a x='1'><b>&amp;é<![CDATA[]]></b><!-- --><c/></a>".utf8)
        var accepted = 0
        for index in whole.indices {
            #expect(throws: XMLReader.ParsingError.self) { try XMLElement.parse(Array(whole[..<index])) }
            for byte in UInt8.min...UInt8.max {
                var changed = whole
                changed[index] = byte
                if let root = try? XMLElement.parse(changed) {
                    accepted += 1
                    #expect(!root.name.isEmpty)
                }
            }
        }
        #expect(accepted > whole.count)
        #expect(throws: XMLReader.ParsingError.self) { try XMLElement.parse([0x3C, 0x61, 0x3E, 0xFF, 0x3C, 0x2F, 0x61, 0x3E]) }
    }
}
