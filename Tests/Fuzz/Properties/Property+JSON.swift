internal import JSON

extension Property {
    /// A parsed text is equal after writing and parsing again, and elements are at their reported offsets.
    func checkJSON(_ bytes: [UInt8]) throws(Violation) {
        do {
            let document = try JSONDocument(parsing: bytes)
            let value = document.root
            let written = value.serialized()
            let again = try JSONValue(parsing: written)
            try expectSame(again, value, "written and read again")
            try expect(again.serialized() == written, "written twice in two ways")
            try expect(try JSONValue(parsing: bytes, maximumDepth: JSONLimits.depth) == value, "two readings")
            try expectUniqueNames(value)
            var arrays = [document.elements]
            for member in value.members ?? [] { arrays.append(document.elements(of: member.name)) }
            for element in arrays.compactMap({ $0 }).joined() {
                try expect(try JSONValue(parsing: bytes[element.range]) == element.value, "an element isn't at \(element.range)")
            }
        } catch let error as JSONError {
            try expect((0...bytes.count).contains(error.offset), "an error at \(error.offset) of \(bytes.count)")
            try expect(!error.reason.isEmpty, "an error without a reason")
        } catch let violation as Violation {
            throw violation
        } catch {
            throw Violation("\(error)")
        }
    }

    private func expectUniqueNames(_ value: JSONValue) throws(Violation) {
        for element in value.array ?? [] { try expectUniqueNames(element) }
        let members = value.members ?? []
        try expect(Set(members.map { Array($0.name.utf8) }).count == members.count, "a name occurs twice")
        for member in members { try expectUniqueNames(member.value) }
    }
}
