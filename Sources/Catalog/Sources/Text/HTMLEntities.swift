/// Character references of HTML in text that should be plain.
enum HTMLEntities {
    /// Replaces references to visible characters, once: `&amp;lt;` becomes `&lt;`.
    static func decoded(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
        var result = String.UnicodeScalarView()
        var rest = text.unicodeScalars[...]
        while let scalar = rest.first {
            if scalar == "&", let end = rest.prefix(longest).firstIndex(of: ";"),
                let character = character(rest[rest.index(after: rest.startIndex)..<end])
            {
                result.append(character)
                rest = rest[rest.index(after: end)...]
            } else {
                result.append(scalar)
                rest.removeFirst()
            }
        }
        return String(result)
    }

    /// The maximum length of a reference, with ampersand, semicolon and leading zeros.
    private static let longest = 12

    private static func character(_ name: Substring.UnicodeScalarView) -> Unicode.Scalar? {
        guard name.first == "#" else { return named[String(name)] }
        let digits = name.dropFirst()
        let number =
            digits.first == "x" || digits.first == "X" ? UInt32(String(digits.dropFirst()), radix: 16) : UInt32(String(digits))
        guard let scalar = number.flatMap(Unicode.Scalar.init) else { return nil }
        // References to invisible characters stay as written.
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .unassigned: return nil
        default: return scalar
        }
    }

    /// Names of HTML 4 for characters that occur in names: ISO 8859-1 in order, and punctuation.
    private static let named: [String: Unicode.Scalar] = {
        var named: [String: Unicode.Scalar] = [
            "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "ndash": "–", "mdash": "—", "lsquo": "‘", "rsquo": "’",
            "sbquo": "‚", "ldquo": "“", "rdquo": "”", "bdquo": "„", "hellip": "…", "bull": "•", "trade": "™", "euro": "€",
            "OElig": "Œ", "oelig": "œ", "Scaron": "Š", "scaron": "š", "Yuml": "Ÿ", "lsaquo": "‹", "rsaquo": "›", "prime": "′",
            "Prime": "″", "dagger": "†", "Dagger": "‡",
        ]
        for (offset, name) in latin.enumerated() { named[String(name)] = Unicode.Scalar(UInt8(160 + offset)) }
        // A no-break space becomes an ordinary one.
        named["nbsp"] = " "
        return named
    }()

    private static let latin =
        """
        nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para \
        middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute \
        Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml \
        Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth \
        ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml
        """
        .split(separator: " ")
}
