package import HTTPCore

@_spi(_Unicode) import Swift

/// Chooses safe names for files. A file cannot leave its directory, hide, deceive, or be a device by its name.
///
/// Names that SMB, NTFS or FAT do not allow are not chosen either. A file may well be shared, copied or mounted there,
/// where `a:b` is a stream of `a`.
///
/// Names are compared exactly, in normalisation form C. A file system may treat two such names as one. Publishing never
/// replaces a file, so it detects this, and the next number is tried.
public enum FileNaming {
    /// The maximum number of bytes of UTF-8 in a name. Systems allow 255; the rest is room for
    /// additions (`.part`, ` (2)`).
    package static let longestName = 200
    /// The maximum number of bytes, dot included, of an extension that is kept when a name is cut. Anything longer is
    /// not an extension.
    private static let longestExtension = 32

    /// Returns the name of a download's file.
    ///
    /// - Parameters:
    ///   - requested: The user's choice.
    ///   - contentDisposition: The value of the Content-Disposition field, which comes before the URL (RFC 6266).
    ///   - url: The URL whose last path component is used otherwise. No extension is added from the media type: the
    ///     name is what the user or the origin chose.
    ///   - target: The URL after redirects. Its last path component is used if it describes the file better, because
    ///     the URL's own has no extension, or a server script's.
    /// - Returns: A safe name; `download` if no name can be made.
    package static func name(requested: String?, contentDisposition: String?, url: HTTPURL, target: HTTPURL? = nil) -> String {
        if let name = requested.flatMap(safe) { return name }
        if let name = name(contentDisposition: contentDisposition) { return name }
        let own = lastComponent(of: url)
        guard let target, target != url, let redirected = lastComponent(of: target) else { return own ?? "download" }
        return URLNameQuality(redirected) > URLNameQuality(own) ? redirected : own ?? "download"
    }

    /// Returns the extension, dot included, of a file whose name was chosen without one; `nil` if it is unknown.
    ///
    /// - Parameters:
    ///   - mediaType: The media type of the file, in lowercase. It decides if it determines the format.
    ///   - contentDisposition: The value of the Content-Disposition field, whose name may have an extension.
    ///   - target: The URL that the file came from, which may end with an extension.
    package static func suffix(mediaType: String?, contentDisposition: String?, target: HTTPURL?) -> String? {
        if let suffix = mediaType.flatMap(MediaTypeExtensions.name(for:)) { return suffix }
        let names = [name(contentDisposition: contentDisposition), target.flatMap(lastComponent)]
        return names.lazy.compactMap(\.self).first { URLNameQuality($0) == .telling }.map { String(split($0).suffix) }
    }

    /// Returns a name with an extension appended, unless it ends with that extension already.
    package static func appending(_ suffix: String, to name: String) -> String {
        if name.lowercased().hasSuffix(suffix.lowercased()) { return name }
        return fit(name[...], into: longestName - suffix.utf8.count) + suffix
    }

    private static func name(contentDisposition: String?) -> String? {
        contentDisposition.flatMap { ContentDisposition(parsing: $0) }?.filename.flatMap(safe)
    }

    private static func lastComponent(of url: HTTPURL) -> String? {
        // A component that does not decode to text is used as it is written.
        let component =
            url.lastPathComponent ?? url.path.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init)
        return component.flatMap(safe)
    }

    /// The amount of information about the file in a URL's last path component, in ascending order.
    private enum URLNameQuality: Int, Comparable {
        case missing
        /// The component names a program on the server.
        case script
        /// The component has no extension. Digits alone are none: they are a version, or belong to an address.
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
                // The component is a numbered piece of a file: `a.zip.001`.
                let isPiece = suffix.count == 3 && split(String(stem)).suffix.contains(where: \.isLetter)
                self = isPiece ? .telling : .bare
            }
        }

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// Returns a name with a number before its extension, for a name that is taken: `a.tar.gz`, 2 → `a (2).tar.gz`.
    /// - Parameter limit: The maximum number of bytes in the result.
    package static func numbered(_ name: String, _ number: Int, limit: Int = longestName) -> String {
        let (stem, suffix) = split(name)
        let mark = " (\(number))"
        return fit(stem, into: limit - mark.utf8.count - suffix.utf8.count) + mark + suffix
    }

    /// Returns the next limit, in bytes, for a name that the file system refuses as too long.
    ///
    /// eCryptfs, which Synology's encrypted shares use, allows 143 bytes. The other limits are for file systems that
    /// allow even less.
    /// - Parameter count: The number of bytes in the refused name.
    /// - Returns: The limit; `nil` if the name cannot be cut further.
    package static func limit(below count: Int) -> Int? { [143, 100, 64].first { $0 < count } }

    /// Returns a name cut to at most `limit` bytes between characters, with its extension.
    package static func shortened(_ name: String, to limit: Int) -> String {
        if name.utf8.count <= limit { return name }
        let (stem, suffix) = split(name)
        let kept = trimmed(fit(stem, into: limit - suffix.utf8.count)) + suffix
        // If the cut has made a device's name, the `_` before it needs one byte.
        return isDevice(kept) ? "_" + trimmed(fit(stem, into: limit - suffix.utf8.count - 1)) + suffix : kept
    }

    /// Returns the name if it is free, and otherwise the name with a number that is free.
    ///
    /// Numbers are tried in growing steps, and then between the last two. A name that ten thousand downloads share
    /// takes about thirty tries. The number before the one found is taken. If numbers were given in order and none was
    /// released, the one found is the least free number.
    package static func free(_ name: String, isTaken: (String) -> Bool) -> String {
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

    /// Returns one sentence about what is wrong with a user's name; `nil` if the name can be used unchanged, in form C.
    /// - Parameter subject: The subject of the sentence.
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
        // These are scalars, not characters: a dot with an accent on it still is the dot that hides a file.
        if let first = name.unicodeScalars.first, first == "." || isSpace(first) {
            return "\(subject) must not begin with a dot or a space"
        }
        if let last = name.unicodeScalars.last, last == "." || isSpace(last) {
            return "\(subject) must not end with a dot or a space"
        }
        if isDevice(name) { return "\(subject) '\(name)' is reserved for a device on some systems" }
        // A name that would have to be changed in any other way is refused.
        return safe(name) == normalised(name) ? nil : "\(subject) cannot be used as it is"
    }

    /// Whether a name from any source denotes one visible file: neither a path, nor the directory itself.
    ///
    /// The rules are weaker than the rules of ``safe(_:)``, so a name in a record stays safe if ``safe(_:)`` changes.
    package static func isSafe(_ name: String) -> Bool {
        guard !name.isEmpty, name.utf8.count <= 255, name.utf8.first != UInt8(ascii: ".") else { return false }
        // Most names are printable ASCII. A start checks the names of all files, so this has to be fast.
        let isPlain = name.utf8.allSatisfy {
            $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\")
        }
        return isPlain || !name.unicodeScalars.contains { isSeparator($0) || isInvisible($0) }
    }

    /// Returns the safe form of a name; `nil` if nothing is left of it.
    package static func safe(_ name: String) -> String? {
        if isOrdinary(name), !isDevice(name) { return name }
        let last = name.unicodeScalars.split(whereSeparator: isSeparator).last ?? [][...]
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: last.lazy.filter { !isInvisible($0) }.map { isReserved($0) ? "_" : $0 })
        var name = trimmed(normalised(String(scalars)))
        if isDevice(name) { name = "_" + name }
        if name.utf8.count > longestName {
            let (stem, suffix) = split(name)
            name = trimmed(fit(stem, into: longestName - suffix.utf8.count)) + suffix
            // The cut may have made a device's name, as with `con`, two hundred spaces and a letter.
            if isDevice(name) { name = "_" + name }
        }
        return name.isEmpty ? nil : name
    }
}

// MARK: - Folders

extension FileNaming {
    /// The maximum number of directories between `files` and a finished file.
    package static let deepestFolder = 8

    /// Returns the names of a folder's directories; none for an empty folder.
    package static func names(ofFolder folder: String) -> [String] {
        if folder.isEmpty { return [] }
        // The text is split as bytes: as characters, a slash with an accent on it would not be a separator.
        return folder.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { String(Substring($0)) }
    }

    /// Returns one sentence about what is wrong with a user's folder; `nil` if it can be used unchanged, in form C.
    /// - Parameter subject: The subject of the sentence.
    public static func objection(toFolder folder: String, called subject: String = "folder") -> String? {
        let names = names(ofFolder: folder)
        if names.contains("") { return "\(subject) must be a relative path such as music/live, without an empty name in it" }
        if names.count > deepestFolder { return "\(subject) must not have more than \(deepestFolder) names" }
        return names.lazy.compactMap { objection(to: $0, called: "a name in \(subject)") }.first
    }

    /// Whether a folder from any source is below `files`, by the rules of ``isSafe(_:)``.
    package static func isSafeFolder(_ folder: String) -> Bool {
        let names = names(ofFolder: folder)
        return names.count <= deepestFolder && names.allSatisfy(isSafe)
    }
}

// MARK: - Names from a catalogue

extension FileNaming {
    /// Returns a folder whose directories have names from a catalogue. Characters that a name cannot have are replaced.
    ///
    /// Directories that would be too deep are joined into one name at the deepest level.
    ///
    /// - Parameter names: The names, from the outermost directory on; empty for no folder.
    public static func folder(of names: [String]) -> String {
        var names = names
        if names.count > deepestFolder {
            names = names.prefix(deepestFolder - 1) + [names.dropFirst(deepestFolder - 1).joined(separator: " - ")]
        }
        return names.map { safe(withoutSeparators($0)) ?? "_" }.joined(separator: "/")
    }

    /// Returns a file name from a title in a catalogue; `nil` if nothing is left of it.
    ///
    /// - Parameters:
    ///   - prefix: A number or a date before the title. A long title is cut; the prefix is not.
    ///   - title: The title.
    ///   - suffix: The extension with its dot, or an empty text.
    public static func name(prefix: String?, title: String, suffix: String) -> String? {
        let title = safe(withoutSeparators(title)) == nil ? nil : withoutSeparators(title)
        let words = [prefix, title].compactMap { $0 }
        return words.isEmpty ? nil : safe(words.joined(separator: " ") + withoutSeparators(suffix))
    }

    /// Replaces separators, so that a title such as `AC/DC` does not become a path.
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

    /// Whether Windows reserves a character, separators and controls apart:
    /// https://learn.microsoft.com/windows/win32/fileio/naming-a-file.
    private static func isReserved(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "<", ">", ":", "\"", "|", "?", "*": true
        default: false
        }
    }

    /// Whether a character is invisible but changes the text: controls, direction overrides, line separators, and code
    /// points that are not characters.
    ///
    /// Joiners are kept, since Persian and Indic words and joined emoji need them.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .format where isJoiner(scalar): false
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: scalar.properties.isNoncharacterCodePoint
        }
    }

    /// Whether a character is the zero width joiner or non-joiner.
    private static func isJoiner(_ scalar: Unicode.Scalar) -> Bool { scalar == "\u{200C}" || scalar == "\u{200D}" }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace
    }

    /// Returns a name without dots, spaces and joiners at either end. Leading dots hide a file, and some systems drop
    /// trailing ones. A joiner joins nothing there, and would make an extension look like another one.
    private static func trimmed(_ name: String) -> String {
        let isDropped = { (scalar: Unicode.Scalar) in scalar == "." || isSpace(scalar) || isJoiner(scalar) }
        var scalars = name.unicodeScalars[...]
        while let first = scalars.first, isDropped(first) { scalars.removeFirst() }
        while let last = scalars.last, isDropped(last) { scalars.removeLast() }
        return String(scalars)
    }

    /// Whether a name consists of ASCII letters, digits, `-`, `_` and inner dots, as most names do.
    ///
    /// Such a name is safe unless it is a device's.
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

    /// Returns normalisation form C, which has one spelling for texts that look the same (Unicode Standard Annex 15).
    package static func normalised(_ name: String) -> String {
        if name.utf8.allSatisfy({ $0 < 0x80 }) { return name }
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: name._nfc)
        return String(scalars)
    }

    /// Whether Windows treats the name as a device, with any extension and case.
    private static func isDevice(_ name: String) -> Bool {
        // Names of devices are short, spaces apart.
        let beginning = name.unicodeScalars.prefix { $0 != "." }
        if beginning.count > 7, !beginning.contains(where: isSpace) { return false }
        let stem = trimmed(String(beginning)).uppercased()
        switch stem {
        case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$": return true
        default: break
        }
        // Windows treats the superscripts one, two and three as digits here.
        guard stem.hasPrefix("COM") || stem.hasPrefix("LPT") else { return false }
        let rest = stem.unicodeScalars.dropFirst(3)
        return rest.count == 1 && rest.allSatisfy { "0123456789\u{B9}\u{B2}\u{B3}".unicodeScalars.contains($0) }
    }
}

// MARK: - Lengths

extension FileNaming {
    /// Splits a name into stem and extension, dot included. The double extensions of archives (`.tar.gz`) count as one.
    package static func split(_ name: String) -> (stem: Substring, suffix: Substring) {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return (name[...], "") }
        var start = dot
        let stem = name[..<dot]
        if let inner = stem.lastIndex(of: "."), inner != name.startIndex, stem[inner...].lowercased() == ".tar" {
            start = inner
        }
        let suffix = name[start...]
        // `Mr. Smith` has no extension.
        guard suffix.utf8.count <= longestExtension, !suffix.contains(where: \.isWhitespace) else { return (name[...], "") }
        return (name[..<start], suffix)
    }

    /// Returns the longest beginning of a text with at most `limit` bytes, cut between characters.
    ///
    /// It is cut within a character only if not even the first one fits, such as a letter with a hundred accents.
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
