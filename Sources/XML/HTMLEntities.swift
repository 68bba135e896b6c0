/// Character references of HTML in text that should be plain.
public enum HTMLEntities {
    /// Replaces references to visible characters, once: `&amp;lt;` becomes `&lt;`.
    public static func decoded(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
        var result = ""
        result.reserveCapacity(text.utf8.count)
        var rest = text.utf8[...]
        while let ampersand = rest.firstIndex(of: UInt8(ascii: "&")) {
            result += Substring(rest[..<ampersand])
            rest = rest[ampersand...]
            let name = rest.dropFirst()
            if let end = rest.prefix(longest).firstIndex(of: UInt8(ascii: ";")), let scalar = character(Substring(name[..<end])) {
                result.unicodeScalars.append(scalar)
                rest = rest[end...].dropFirst()
            } else {
                result += "&"
                rest = name
            }
        }
        return result + Substring(rest)
    }

    /// The maximum length of a reference, with ampersand, semicolon and leading zeros.
    private static let longest = 12

    private static func character(_ name: Substring) -> Unicode.Scalar? {
        guard name.first == "#" else {
            let scalar = named[String(name)]
            // A no-break space becomes an ordinary one.
            return scalar == "\u{A0}" ? " " : scalar
        }
        let digits = name.dropFirst()
        let number =
            digits.first == "x" || digits.first == "X" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        guard let scalar = number.flatMap(Unicode.Scalar.init) else { return nil }
        // References to invisible characters stay as written.
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .unassigned: return nil
        default: return scalar
        }
    }

    /// Returns the character with a name of HTML 4; `nil` if there is none.
    static func scalar(named name: String) -> Unicode.Scalar? { named[name] }

    /// The characters by their names in HTML 4.
    private static let named: [String: Unicode.Scalar] = {
        var named: [String: Unicode.Scalar] = [
            "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "ndash": "–", "mdash": "—", "lsquo": "‘", "rsquo": "’",
            "sbquo": "‚", "ldquo": "“", "rdquo": "”", "bdquo": "„", "hellip": "…", "bull": "•", "trade": "™", "euro": "€",
            "OElig": "Œ", "oelig": "œ", "Scaron": "Š", "scaron": "š", "Yuml": "Ÿ", "lsaquo": "‹", "rsaquo": "›", "prime": "′",
            "Prime": "″", "dagger": "†", "Dagger": "‡",
        ]
        for (offset, name) in latin.enumerated() { named[String(name)] = Unicode.Scalar(UInt8(160 + offset)) }
        for pair in others {
            let parts = pair.split(separator: "=")
            named[String(parts[0])] = UInt32(parts[1], radix: 16).flatMap(Unicode.Scalar.init)
        }
        return named
    }()

    /// The names of the characters of ISO 8859-1 from 160, in order.
    private static let latin =
        """
        nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para \
        middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute \
        Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml \
        Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth \
        ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml
        """
        .split(separator: " ")

    /// The other names of HTML 4, with the numbers of their characters.
    private static let others =
        """
        fnof=192 circ=2C6 tilde=2DC Alpha=391 Beta=392 Gamma=393 Delta=394 Epsilon=395 Zeta=396 Eta=397 Theta=398 Iota=399 \
        Kappa=39A Lambda=39B Mu=39C Nu=39D Xi=39E Omicron=39F Pi=3A0 Rho=3A1 Sigma=3A3 Tau=3A4 Upsilon=3A5 Phi=3A6 Chi=3A7 \
        Psi=3A8 Omega=3A9 alpha=3B1 beta=3B2 gamma=3B3 delta=3B4 epsilon=3B5 zeta=3B6 eta=3B7 theta=3B8 iota=3B9 kappa=3BA \
        lambda=3BB mu=3BC nu=3BD xi=3BE omicron=3BF pi=3C0 rho=3C1 sigmaf=3C2 sigma=3C3 tau=3C4 upsilon=3C5 phi=3C6 chi=3C7 \
        psi=3C8 omega=3C9 thetasym=3D1 upsih=3D2 piv=3D6 ensp=2002 emsp=2003 thinsp=2009 zwnj=200C zwj=200D lrm=200E \
        rlm=200F permil=2030 oline=203E frasl=2044 image=2111 weierp=2118 real=211C alefsym=2135 larr=2190 uarr=2191 \
        rarr=2192 darr=2193 harr=2194 crarr=21B5 lArr=21D0 uArr=21D1 rArr=21D2 dArr=21D3 hArr=21D4 forall=2200 part=2202 \
        exist=2203 empty=2205 nabla=2207 isin=2208 notin=2209 ni=220B prod=220F sum=2211 minus=2212 lowast=2217 radic=221A \
        prop=221D infin=221E ang=2220 and=2227 or=2228 cap=2229 cup=222A int=222B there4=2234 sim=223C cong=2245 asymp=2248 \
        ne=2260 equiv=2261 le=2264 ge=2265 sub=2282 sup=2283 nsub=2284 sube=2286 supe=2287 oplus=2295 otimes=2297 perp=22A5 \
        sdot=22C5 lceil=2308 rceil=2309 lfloor=230A rfloor=230B lang=2329 rang=232A loz=25CA spades=2660 clubs=2663 \
        hearts=2665 diams=2666
        """
        .split(separator: " ")
}
