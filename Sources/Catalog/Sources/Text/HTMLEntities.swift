/// Character references, as HTML writes them into what is to be plain text.
enum HTMLEntities {
    /// The text with every reference replaced that stands for a character which can be seen; once, so that `&amp;lt;` is `&lt;`.
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

    /// The longest reference understood, with its ampersand and semicolon, leading zeros included.
    private static let longest = 12

    private static func character(_ name: Substring.UnicodeScalarView) -> Unicode.Scalar? {
        guard name.first == "#" else { return named[String(name)] }
        let digits = name.dropFirst()
        let number =
            digits.first == "x" || digits.first == "X" ? UInt32(String(digits.dropFirst()), radix: 16) : UInt32(String(digits))
        guard let scalar = number.flatMap(Unicode.Scalar.init) else { return nil }
        // What cannot be seen in a name is better seen as it was written.
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .unassigned: return nil
        default: return scalar
        }
    }

    /// HTML 4's names of characters that occur in names: those of ISO 8859-1 in their order, and those of punctuation.
    private static let named: [String: Unicode.Scalar] = {
        var named: [String: Unicode.Scalar] = [
            "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "ndash": "–", "mdash": "—", "lsquo": "‘", "rsquo": "’",
            "sbquo": "‚", "ldquo": "“", "rdquo": "”", "bdquo": "„", "hellip": "…", "bull": "•", "trade": "™", "euro": "€",
            "OElig": "Œ", "oelig": "œ", "Scaron": "Š", "scaron": "š", "Yuml": "Ÿ", "lsaquo": "‹", "rsaquo": "›", "prime": "′",
            "Prime": "″", "dagger": "†", "Dagger": "‡",
        ]
        for (offset, name) in latin.enumerated() { named[String(name)] = Unicode.Scalar(UInt8(160 + offset)) }
        // A space that keeps a line together says nothing in a name.
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
