import HTTPCore

@_spi(_Unicode) import Swift

/// Chooses the names of files, so that none can leave its directory, hide, pretend, or be a device.
///
/// What cannot be a name on SMB, NTFS or FAT is none here either: a file may well be shared, copied or mounted there, where `a:b` is
/// a stream of `a`.
///
/// Names are compared exactly, in normalisation form C. Where a file system takes two of them for one, publishing, which
/// never replaces a file, finds out, and the next number is tried.
public enum FileNaming {
    /// The most bytes of UTF-8 in a name. Systems allow 255; the rest is room for what others add (`.part`, ` (2)`).
    static let longestName = 200
    /// The most bytes of an extension, its dot included, that is kept when a name is cut. A longer one is no extension.
    private static let longestExtension = 32

    /// The name of a download's file.
    ///
    /// - Parameters:
    ///   - requested: The user's choice.
    ///   - contentDisposition: The field's value, which wins over the URL (RFC 6266).
    ///   - url: Its last path component is taken otherwise. No extension is made up from the media type: a name is what the
    ///     user or the origin says.
    ///   - target: The URL that redirects led to. Its last path component is taken if it tells more of the file: the URL's own
    ///     has no extension, or that of a server's script.
    /// - Returns: A safe name; `download` if there is nothing to make one of.
    static func name(requested: String?, contentDisposition: String?, url: HTTPURL, target: HTTPURL? = nil) -> String {
        if let name = requested.flatMap(safe) { return name }
        if let name = name(contentDisposition: contentDisposition) { return name }
        let own = lastComponent(of: url)
        guard let target, target != url, let redirected = lastComponent(of: target) else { return own ?? "download" }
        return URLNameQuality(redirected) > URLNameQuality(own) ? redirected : own ?? "download"
    }

    /// The extension, dot included, of a file whose name was chosen without one.
    ///
    /// - Parameters:
    ///   - mediaType: The media type of the file, in lowercase. It decides if it tells the format.
    ///   - contentDisposition: The value of a field whose name may have an extension.
    ///   - target: The URL that the file came from, which may end with one.
    static func suffix(mediaType: String?, contentDisposition: String?, target: HTTPURL?) -> String? {
        if let suffix = mediaType.flatMap(MediaTypeExtensions.name(for:)) { return suffix }
        let names = [name(contentDisposition: contentDisposition), target.flatMap(lastComponent)]
        return names.lazy.compactMap(\.self).first { URLNameQuality($0) == .telling }.map { String(split($0).suffix) }
    }

    /// A name with an extension behind it, unless it ends with that already.
    static func appending(_ suffix: String, to name: String) -> String {
        if name.lowercased().hasSuffix(suffix.lowercased()) { return name }
        return fit(name[...], into: longestName - suffix.utf8.count) + suffix
    }

    private static func name(contentDisposition: String?) -> String? {
        contentDisposition.flatMap { ContentDisposition(parsing: $0) }?.filename.flatMap(safe)
    }

    private static func lastComponent(of url: HTTPURL) -> String? {
        // A component that does not decode to text still is one as it stands.
        let component =
            url.lastPathComponent ?? url.path.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init)
        return component.flatMap(safe)
    }

    /// How much a URL's last path component tells of the file, from the least on.
    private enum URLNameQuality: Int, Comparable {
        case missing
        /// It names a program on the server.
        case script
        /// It has no extension. Digits alone are none: they are a version, or a part of an address.
        case bare
        case telling

        init(_ name: String?) {
            guard let name else {
                self = .missing
                return
            }
            let (stem, whole) = split(name)
            let suffix = whole.dropFirst()
            // A session id may follow: `a.jsp;jsessionid=1`.
            if ScriptExtensions.contains(suffix.prefix { $0 != ";" }) {
                self = .script
            } else if suffix.contains(where: \.isLetter) {
                self = .telling
            } else {
                // One piece of a file: `a.zip.001`.
                let isPiece = suffix.count == 3 && split(String(stem)).suffix.contains(where: \.isLetter)
                self = isPiece ? .telling : .bare
            }
        }

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// The same name with a number before its extension, for when it is taken: `a.tar.gz`, 2 → `a (2).tar.gz`.
    /// - Parameter limit: bytes that the result may have.
    static func numbered(_ name: String, _ number: Int, limit: Int = longestName) -> String {
        let (stem, suffix) = split(name)
        let mark = " (\(number))"
        return fit(stem, into: limit - mark.utf8.count - suffix.utf8.count) + mark + suffix
    }

    /// The bytes that a name is cut to if the file system refuses a name of so many bytes as too long; `nil`: it cannot be cut further.
    ///
    /// eCryptfs, which Synology's encrypted shares use, takes 143 bytes. The others are for file systems that take still less.
    static func limit(below count: Int) -> Int? { [143, 100, 64].first { $0 < count } }

    /// A name cut to so many bytes between characters, with its extension.
    static func shortened(_ name: String, to limit: Int) -> String {
        if name.utf8.count <= limit { return name }
        let (stem, suffix) = split(name)
        let kept = trimmed(fit(stem, into: limit - suffix.utf8.count)) + suffix
        // A device's name that the cut has made is one byte longer.
        return isDevice(kept) ? "_" + trimmed(fit(stem, into: limit - suffix.utf8.count - 1)) + suffix : kept
    }

    /// The name itself if it is not taken, and otherwise with a number that is not.
    ///
    /// Numbers are tried in growing steps and then between the last two, so that a name which ten thousand downloads share
    /// costs some thirty looks. The number before the one found is taken; where numbers were given in order and none given
    /// back, it is the least.
    static func free(_ name: String, isTaken: (String) -> Bool) -> String {
        guard isTaken(name) else { return name }
        var taken = 1
        var free = 2
        while free < 1 << 40, isTaken(numbered(name, free)) {
            taken = free
            free *= 2
        }
        while free - taken > 1 {
            let middle = taken + (free - taken) / 2
            if isTaken(numbered(name, middle)) { taken = middle } else { free = middle }
        }
        return numbered(name, free)
    }

    /// What is wrong with a name that a user asks for, in one sentence; `nil` if it can be taken, in form C, as it stands.
    /// - Parameter subject: what the sentence is about.
    public static func objection(to name: String, called subject: String = "filename") -> String? {
        if name.isEmpty { return "\(subject) must not be empty" }
        if name.utf8.count > longestName || normalised(name).utf8.count > longestName {
            return "\(subject) must not be longer than \(longestName) bytes"
        }
        if name.unicodeScalars.contains(where: isSeparator) { return "\(subject) must not contain '/' or '\\'" }
        if name.unicodeScalars.contains(where: isInvisible) {
            return "\(subject) must not contain control or formatting characters"
        }
        if name.unicodeScalars.contains(where: isReserved) { return "\(subject) must not contain any of < > : \" | ? *" }
        // Scalars, not characters: a dot with an accent on it still is the dot that hides a file.
        if let first = name.unicodeScalars.first, first == "." || isSpace(first) {
            return "\(subject) must not begin with a dot or a space"
        }
        if let last = name.unicodeScalars.last, last == "." || isSpace(last) {
            return "\(subject) must not end with a dot or a space"
        }
        if isDevice(name) { return "\(subject) '\(name)' is reserved for a device on some systems" }
        // Whatever else there is to change, a name is taken as it is asked for or not at all.
        return safe(name) == normalised(name) ? nil : "\(subject) cannot be used as it is"
    }

    /// Whether a name, wherever it comes from, is that of one file that can be seen: not a path, nor the directory itself. Less than
    /// ``safe(_:)`` asks for, so that names which were chosen by other rules, of older releases, are safe as well.
    static func isSafe(_ name: String) -> Bool {
        guard !name.isEmpty, name.utf8.count <= 255, name.utf8.first != UInt8(ascii: ".") else { return false }
        // Most names are of printable ASCII, and a start looks at all that there are.
        let isPlain = name.utf8.allSatisfy {
            $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\")
        }
        return isPlain || !name.unicodeScalars.contains { isSeparator($0) || isInvisible($0) }
    }

    /// The safe form of a name; `nil` if nothing is left of it.
    static func safe(_ name: String) -> String? {
        if isOrdinary(name), !isDevice(name) { return name }
        let last = name.unicodeScalars.split(whereSeparator: isSeparator).last ?? [][...]
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: last.lazy.filter { !isInvisible($0) }.map { isReserved($0) ? "_" : $0 })
        var name = trimmed(normalised(String(scalars)))
        if isDevice(name) { name = "_" + name }
        if name.utf8.count > longestName {
            let (stem, suffix) = split(name)
            name = trimmed(fit(stem, into: longestName - suffix.utf8.count)) + suffix
            // What was between has been cut off, as in `con`, two hundred spaces and a letter.
            if isDevice(name) { name = "_" + name }
        }
        return name.isEmpty ? nil : name
    }
}

// MARK: - Folders

extension FileNaming {
    /// The most directories between `files` and a finished file.
    static let deepestFolder = 8

    /// The names of the directories that a folder is made of; none for an empty one.
    static func names(ofFolder folder: String) -> [String] {
        if folder.isEmpty { return [] }
        // By bytes: as characters, a slash with an accent on it would be none.
        return folder.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { String(Substring($0)) }
    }

    /// What is wrong with a folder that a user asks for, in one sentence; `nil` if it can be taken, in form C, as it stands.
    /// - Parameter subject: what the sentence is about.
    public static func objection(toFolder folder: String, called subject: String = "folder") -> String? {
        let names = names(ofFolder: folder)
        if names.contains("") { return "\(subject) must be a relative path such as music/live, without an empty name in it" }
        if names.count > deepestFolder { return "\(subject) must not have more than \(deepestFolder) names" }
        return names.lazy.compactMap { objection(to: $0, called: "a name in \(subject)") }.first
    }

    /// Whether a folder, wherever it comes from, is one below `files`, by the rules of ``isSafe(_:)``.
    static func isSafeFolder(_ folder: String) -> Bool {
        let names = names(ofFolder: folder)
        return names.count <= deepestFolder && names.allSatisfy(isSafe)
    }
}

// MARK: - Names of a catalogue

extension FileNaming {
    /// The folder whose directories have names such as a catalogue's; what they can't be called is replaced. Those too deep have one
    /// name with the deepest that can be.
    ///
    /// - Parameter names: from the outermost; empty for none.
    public static func folder(of names: [String]) -> String {
        var names = names
        if names.count > deepestFolder {
            names = names.prefix(deepestFolder - 1) + [names.dropFirst(deepestFolder - 1).joined(separator: " - ")]
        }
        return names.map { safe(withoutSeparators($0)) ?? "_" }.joined(separator: "/")
    }

    /// The name of a file after its title in a catalogue; nil if nothing is left of it.
    ///
    /// - Parameters:
    ///   - prefix: What stands before the title: a number, or a date. A long title is cut behind it.
    ///   - suffix: The extension with its dot, or nothing.
    public static func name(prefix: String?, title: String, suffix: String) -> String? {
        let title = safe(withoutSeparators(title)) == nil ? nil : withoutSeparators(title)
        let words = [prefix, title].compactMap { $0 }
        return words.isEmpty ? nil : safe(words.joined(separator: " ") + withoutSeparators(suffix))
    }

    /// A title such as `AC/DC` is no path.
    private static func withoutSeparators(_ name: String) -> String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: name.unicodeScalars.lazy.map { isSeparator($0) ? "_" : $0 })
        return String(scalars)
    }
}

// MARK: - Characters

extension FileNaming {
    private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "/" || scalar == "\\"
    }

    /// Whether Windows takes a character for something else than a part of a name, besides separators and controls:
    /// https://learn.microsoft.com/windows/win32/fileio/naming-a-file.
    private static func isReserved(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "<", ">", ":", "\"", "|", "?", "*": true
        default: false
        }
    }

    /// Whether a character cannot be seen but changes what is: controls, joiners, direction overrides, line separators,
    /// and code points that are no characters.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: scalar.properties.isNoncharacterCodePoint
        }
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace
    }

    /// Without leading dots, which hide a file, and trailing ones, which some systems drop, nor spaces at either end.
    private static func trimmed(_ name: String) -> String {
        var scalars = name.unicodeScalars[...]
        while let first = scalars.first, first == "." || isSpace(first) { scalars.removeFirst() }
        while let last = scalars.last, last == "." || isSpace(last) { scalars.removeLast() }
        return String(scalars)
    }

    /// Whether a name is of ASCII letters, digits, `-`, `_` and dots between them, as most are. Unless it is a device's, it is safe.
    private static func isOrdinary(_ name: String) -> Bool {
        let bytes = name.utf8
        guard let first = bytes.first, let last = bytes.last, bytes.count <= longestName else { return false }
        return first != UInt8(ascii: ".") && last != UInt8(ascii: ".")
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    /// Normalisation form C: one spelling for what looks the same (Unicode Standard Annex 15).
    static func normalised(_ name: String) -> String {
        if name.utf8.allSatisfy({ $0 < 0x80 }) { return name }
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: name._nfc)
        return String(scalars)
    }

    /// Whether Windows takes the name for a device, whatever its extension and case.
    private static func isDevice(_ name: String) -> Bool {
        // All of them are short, apart from spaces.
        let beginning = name.unicodeScalars.prefix { $0 != "." }
        if beginning.count > 7, !beginning.contains(where: isSpace) { return false }
        let stem = trimmed(String(beginning)).uppercased()
        switch stem {
        case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$": return true
        default: break
        }
        // The superscripts one, two and three count as digits there.
        guard stem.hasPrefix("COM") || stem.hasPrefix("LPT") else { return false }
        let rest = stem.unicodeScalars.dropFirst(3)
        return rest.count == 1 && rest.allSatisfy { "0123456789\u{B9}\u{B2}\u{B3}".unicodeScalars.contains($0) }
    }
}

// MARK: - Lengths

extension FileNaming {
    /// Stem and extension, dot included. The archives' double extensions (`.tar.gz`) are one.
    private static func split(_ name: String) -> (stem: Substring, suffix: Substring) {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return (name[...], "") }
        var start = dot
        let stem = name[..<dot]
        if let inner = stem.lastIndex(of: "."), inner != name.startIndex, stem[inner...].lowercased() == ".tar" {
            start = inner
        }
        let suffix = name[start...]
        // `Mr. Smith` has none.
        guard suffix.utf8.count <= longestExtension, !suffix.contains(where: \.isWhitespace) else { return (name[...], "") }
        return (name[..<start], suffix)
    }

    /// The longest beginning of the text that has at most so many bytes, cut between characters; within one only if not even
    /// the first fits, as with a letter under a hundred accents.
    private static func fit(_ text: Substring, into limit: Int) -> String {
        if text.utf8.count <= limit { return String(text) }
        var kept = ""
        var count = 0
        for character in text {
            count += character.utf8.count
            if count > limit { break }
            kept.append(character)
        }
        if kept.isEmpty {
            count = 0
            for scalar in text.unicodeScalars {
                count += UTF8.width(scalar)
                if count > limit { break }
                kept.unicodeScalars.append(scalar)
            }
        }
        return kept
    }
}
