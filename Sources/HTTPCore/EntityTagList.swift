/// The value of If-Match or If-None-Match: RFC 9110 §13.1.1.
public enum EntityTagList: Sendable, Hashable {
    /// `*`: any current representation.
    case any
    /// At least one tag.
    case tags([EntityTag])

    /// Parses a value; nil if it is neither `*` nor a list of tags. Empty members are skipped (RFC 9110 §5.6.1).
    public init?(parsing text: String) {
        var rest = Array(text.utf8)[...].trimmingWhiteSpace
        if rest.elementsEqual("*".utf8) {
            self = .any
            return
        }
        // `ListMembers` cannot parse this: in a tag, a backslash is an ordinary character.
        var tags: [EntityTag] = []
        while !rest.isEmpty {
            if rest.first != ASCII.comma {
                guard let tag = EntityTag.take(from: &rest) else { return nil }
                tags.append(tag)
                rest = rest.trimmingWhiteSpace
                guard rest.isEmpty || rest.first == ASCII.comma else { return nil }
            }
            rest = rest.dropFirst().trimmingWhiteSpace
        }
        guard !tags.isEmpty else { return nil }
        self = .tags(tags)
    }
}
