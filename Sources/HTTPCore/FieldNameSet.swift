/// Names that a section is searched for together.
public struct FieldNameSet: Sendable {
    /// The members.
    public let names: [FieldName]
    /// The traits of all of them.
    let traits: UInt64

    /// These names.
    public init(_ names: [FieldName]) {
        self.names = names
        traits = names.reduce(0) { $0 | $1.trait }
    }
}

extension Fields {
    /// Whether there is a field whose name is in the set.
    public func contains(_ set: FieldNameSet) -> Bool {
        traits & set.traits != 0 && set.names.contains { contains($0) }
    }

    /// Removes all fields whose names are in the set.
    public mutating func remove(_ set: FieldNameSet) {
        guard traits & set.traits != 0 else { return }
        for name in set.names { remove(name) }
    }
}
