import JSON
import Testing

@Suite struct JSONDocumentTests {
    @Test("The elements of an outer array are found where they stand, as they were written")
    func locatesElements() throws {
        let text = "\n\n{ \"a\" : [1, {\"x\" : [ 2 ]} ,\"é\"\n,[ ] ], \"b\": {\"a\": [9]}, \"c\": [], \"d\": 1.50 }\n"
        let document = try JSONDocument(parsing: Array(text.utf8))
        #expect(raw(document.elements(of: "a"), in: document) == ["1", "{\"x\" : [ 2 ]}", "\"é\"", "[ ]"])
        #expect(document.elements(of: "a")?.map(\.value) == document.root["a"]?.array)
        #expect(raw(document.elements(of: "c"), in: document) == [])
        #expect(document.elements(of: "b") == nil)
        #expect(document.elements(of: "d") == nil)
        #expect(document.elements(of: "x") == nil)
        #expect(document.elements == nil)
    }

    @Test("The text itself may be the array")
    func locatesElementsOfRoot() throws {
        let document = try JSONDocument(parsing: Array(" [ {\"a\":[1,2]} , 1.0e1 ] ".utf8))
        #expect(raw(document.elements, in: document) == ["{\"a\":[1,2]}", "1.0e1"])
        #expect(document.elements(of: "a") == nil)
    }

    @Test("The members of the text can be located, and no others")
    func locatesMembers() throws {
        let document = try JSONDocument(parsing: Array(" { \"a\":[1,{\"id\":2}] ,\"i\\u0064\" : 1.50e00 } ".utf8))
        func text(_ name: String) -> String? {
            document.place(of: name).map { String(decoding: document.bytes[$0], as: UTF8.self) }
        }
        #expect(text("a") == "[1,{\"id\":2}]")
        #expect(text("id") == "1.50e00")
        #expect(text("b") == nil)
        #expect(try JSONDocument(parsing: Array("[{\"a\":1}]".utf8)).place(of: "a") == nil)
    }

    @Test("What is no JSON is no document", arguments: ["", "[1", "{\"a\":[1,]}"])
    func refuses(text: String) {
        #expect(throws: JSONError.self) { try JSONDocument(parsing: Array(text.utf8)) }
    }

    private func raw(_ elements: [JSONDocument.Element]?, in document: JSONDocument) -> [String]? {
        elements?.map { String(decoding: document.bytes[$0.range], as: UTF8.self) }
    }
}
