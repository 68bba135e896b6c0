internal import JSON

/// A writer of results, in the form that a message asks for.
protocol ValueWriter {
    /// The bytes written so far.
    var bytes: [UInt8] { get set }
    /// Begins an object. A name precedes each of its values.
    mutating func beginObject()
    mutating func endObject()
    mutating func beginArray()
    mutating func endArray()
    /// Writes the name of a member.
    mutating func name(_ name: String)
    mutating func value(_ string: String)
    mutating func value(_ integer: Int)
    /// Writes the error of a call.
    mutating func value(_ error: RPCError)
    /// Writes a number as a string of digits.
    mutating func digits(_ integer: Int64)
    /// Runs `write`, and removes its output if there are more than `limit` bytes afterwards.
    /// - Returns: Whether the output was kept.
    mutating func attempt(limit: Int, _ write: (inout Self) -> Void) -> Bool
}

extension ValueWriter {
    /// Writes an array.
    mutating func list<Element>(_ elements: some Sequence<Element>, _ encode: (inout Self, Element) -> Void) {
        beginArray()
        for element in elements { encode(&self, element) }
        endArray()
    }

    /// Writes a member with a string.
    mutating func member(_ name: String, _ string: String) {
        self.name(name)
        value(string)
    }

    /// Writes a member with a number as a string.
    mutating func figure(_ name: String, _ value: Int64) {
        self.name(name)
        digits(value)
    }
}

extension JSONWriter: ValueWriter {
    mutating func value(_ error: RPCError) {
        beginObject()
        member("code", error.code)
        member("message", error.message)
        endObject()
    }
}
