package import HTTPCore

/// The digests of a whole file that its origin sends: `Repr-Digest` (RFC 9530 §3) and its predecessor `Digest` (RFC
/// 3230 §4.3.2).
///
/// Without a content coding, both are digests of all bytes of the file, even on a partial response.
package enum OriginDigests {
    /// Returns the digest that costs least to verify: SHA-256, which is computed in any case, or else SHA-512.
    ///
    /// Other algorithms and invalid values are ignored. The fields are optional, so they are no
    /// reason to refuse a file.
    package static func strongest(_ fields: Fields) -> Checksum? {
        var found: [Checksum] = []
        if let text = fields.combined(FieldName(constant: "Repr-Digest")) { found += members(text, isStructured: true) }
        if let text = fields.combined(FieldName(constant: "Digest")) { found += members(text, isStructured: false) }
        return found.first { $0.algorithm == .sha256 } ?? found.first { $0.algorithm == .sha512 }
    }

    /// Parses the members of a field's value.
    /// - Parameter isStructured: Whether digests are byte sequences of RFC 8941 §3.3.5, between colons.
    private static func members(_ text: String, isStructured: Bool) -> [Checksum] {
        text.split(separator: ",").compactMap { member in
            let parts = member.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let algorithm = Checksum.Algorithm(rawValue: trimmed(parts[0]).lowercased()) else {
                return nil
            }
            var value = trimmed(parts[1])
            if isStructured {
                // Only parameters can follow the last colon, and none is defined.
                guard value.first == ":", let end = value.lastIndex(of: ":"), end > value.startIndex else { return nil }
                value = value[value.index(after: value.startIndex)..<end]
            }
            return Base64.decode(value.utf8).flatMap { Checksum(algorithm, bytes: $0) }
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " || $0 == "\t" }
        return start.lastIndex { $0 != " " && $0 != "\t" }.map { start[...$0] } ?? ""
    }
}
