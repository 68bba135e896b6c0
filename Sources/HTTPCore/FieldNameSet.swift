/// A set of names for a joint search of a section.
///
/// Length and first letter distinguish nearly every field from all names of the set. So a search for many names costs
/// little more than one for a single name.
public struct FieldNameSet: Sendable {
    private struct Member {
        let length: Int
        let initial: UInt8
        let name: FieldName
    }

    private let members: [Member]
    /// The union of the names' traits.
    fileprivate let traits: UInt64

    /// Creates a set of names.
    public init(_ names: [FieldName]) {
        members = names.map {
            Member(length: $0.canonical.utf8.count, initial: ASCII.lowercased($0.canonical.utf8.first ?? 0), name: $0)
        }
        traits = names.reduce(0) { $0 | $1.trait }
    }

    fileprivate func contains(nameOf index: Int, in fields: borrowing Fields) -> Bool {
        let entry = fields.entries[index]
        let length = entry.nameEnd - entry.nameStart
        for member in members where member.length == length {
            if ASCII.lowercased(fields.lines[entry.nameStart]) == member.initial, fields.matches(index, member.name) {
                return true
            }
        }
        return false
    }
}

extension Fields {
    /// Whether a field has a name of the set.
    public func contains(_ names: FieldNameSet) -> Bool {
        guard traits & names.traits != 0 else { return false }
        for index in entries.indices where names.contains(nameOf: index, in: self) { return true }
        return false
    }

    /// Removes all fields whose names are in the set.
    public mutating func remove(_ names: FieldNameSet) {
        guard contains(names) else { return }
        var kept = Fields()
        for index in entries.indices where !names.contains(nameOf: index, in: self) {
            kept.append(parsedName: name(at: index).span, value: value(at: index).span)
        }
        self = kept
    }
}
