/// The members of a comma-separated list, without surrounding white space: RFC 9110 §5.6.1.
///
/// Empty members are skipped, as recipients must. A comma in a quoted string does not separate.
struct ListMembers: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>

    init(_ value: ArraySlice<UInt8>) {
        rest = value
    }

    mutating func next() -> ArraySlice<UInt8>? {
        while !rest.isEmpty {
            let start = rest.startIndex
            var end = start
            var isQuoted = false
            while end < rest.endIndex {
                let byte = rest[end]
                if isQuoted, byte == ASCII.backslash {
                    end += 1
                } else if byte == ASCII.doubleQuote {
                    isQuoted.toggle()
                } else if byte == ASCII.comma, !isQuoted {
                    break
                }
                end += 1
            }
            end = Swift.min(end, rest.endIndex)
            let member = rest[start..<end].trimmingWhiteSpace
            rest = end < rest.endIndex ? rest[(end + 1)...] : rest[end...]
            if !member.isEmpty { return member }
        }
        return nil
    }
}
