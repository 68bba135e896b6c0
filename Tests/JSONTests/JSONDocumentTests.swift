import JSON
import Testing

@Suite struct JSONDocumentTests {
    @Test("Finds the elements of an outer array as they were written")
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

    @Test("An array may be in a nested member; finds a member of the text")
    func locatesElementsOfMembers() throws {
        let text =
            #" {"a" : {"b": [ 1, {"b":[2]} ] , "c":[[3], 4.0]}, "b": [ [5], {"b":[6]} ], "d":{"e":{"b":[7]}}, "f" : 1.0 } "#
        let document = try JSONDocument(parsing: Array(text.utf8))
        #expect(raw(document.elements(of: "b", in: "a"), in: document) == ["1", #"{"b":[2]}"#])
        #expect(raw(document.elements(of: "c", in: "a"), in: document) == ["[3]", "4.0"])
        #expect(raw(document.elements(of: "b"), in: document) == ["[5]", #"{"b":[6]}"#])
        #expect(document.elements(of: "e", in: "d") == nil)
        #expect(document.elements(of: "b", in: "b") == nil)
        #expect(document.elements(of: "b", in: "x") == nil)
        #expect(document.elements(of: "a") == nil)
        #expect(raw(document.member("f").map { [$0] }, in: document) == ["1.0"])
        #expect(raw(document.member("d").map { [$0] }, in: document) == [#"{"e":{"b":[7]}}"#])
        #expect(document.member("a")?.value == document.root["a"])
        #expect(document.member("e") == nil)
        #expect(try JSONDocument(parsing: Array("[{\"a\":1}]".utf8)).member("a") == nil)
    }

    @Test("Refuses invalid JSON", arguments: ["", "[1", "{\"a\":[1,]}"])
    func refuses(text: String) {
        #expect(throws: JSONError.self) { try JSONDocument(parsing: Array(text.utf8)) }
    }

    private func raw(_ elements: [JSONDocument.Element]?, in document: JSONDocument) -> [String]? {
        elements?.map { String(decoding: document.bytes[$0.range], as: UTF8.self) }
    }
}
