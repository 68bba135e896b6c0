/// An ordered field section: RFC 9110 §5.
///
/// The section is stored in its wire form, `Name: value` CRLF for each field, in one byte array. A second array has the
/// fields' offsets. Both keep their capacity when the section is emptied and filled again. Encoding is one copy. A
/// value is sanitised when it is added, so a section cannot split a message.
public struct Fields: Sendable {
    /// The offsets of one field in `lines`. The value begins two bytes after the name's end and is followed by CRLF.
    struct Entry: Sendable {
        var nameStart: Int
        var nameEnd: Int
        var valueEnd: Int

        var valueStart: Int { nameEnd + 2 }
        var lineEnd: Int { valueEnd + 2 }
    }

    private(set) var lines: [UInt8] = []
    private(set) var entries: [Entry] = []
    /// The union of all names' traits. A name whose trait is missing is not in the section, which avoids most searches.
    private(set) var traits: UInt64 = 0

    /// Creates an empty section.
    public init() {}

    /// Creates a section of one field. Appending it to other sections is cheaper than appending the field.
    public init(_ name: FieldName, _ value: String) {
        append(name, value)
    }

    /// Removes all fields.
    public mutating func removeAll(keepingCapacity keepsCapacity: Bool = false) {
        lines.removeAll(keepingCapacity: keepsCapacity)
        entries.removeAll(keepingCapacity: keepsCapacity)
        traits = 0
    }

    /// Reserves capacity for the given numbers of fields and bytes.
    public mutating func reserveCapacity(fields: Int, bytes: Int) {
        entries.reserveCapacity(fields)
        lines.reserveCapacity(bytes)
    }

    /// Adds a field at the end. Controls in the value except HTAB become spaces, including CR, LF and NUL. White space
    /// around it is removed (RFC 9110 §5.5).
    public mutating func append(_ name: FieldName, _ value: String) {
        let start = beginLine(name)
        lines.append(contentsOf: value.utf8)
        endLine(name, valueStart: start)
    }

    /// Adds a field whose value is bytes, sanitised in the same way as text.
    public mutating func append(_ name: FieldName, bytes value: Span<UInt8>) {
        let start = beginLine(name)
        lines.append(value)
        endLine(name, valueStart: start)
    }

    /// Adds a field whose value is a date.
    public mutating func append(_ name: FieldName, _ value: HTTPDate) {
        let start = beginLine(name)
        value.encode(into: &lines)
        endLegalLine(name, valueStart: start)
    }

    /// Adds a field whose value is an entity tag.
    public mutating func append(_ name: FieldName, _ value: EntityTag) {
        let start = beginLine(name)
        value.encode(into: &lines)
        endLegalLine(name, valueStart: start)
    }

    /// Adds a field from a parsed message. The name must be a token, the value legal and trimmed.
    mutating func append(parsedName name: Span<UInt8>, value: Span<UInt8>) {
        let start = lines.count
        let nameEnd = start + name.count
        // One append for all parts, since this is the hottest copy of a request.
        lines.append(addingCapacity: name.count + value.count + 4) { output in
            for index in name.indices { output.append(name[index]) }
            output.append(ASCII.colon)
            output.append(ASCII.space)
            for index in value.indices { output.append(value[index]) }
            output.append(ASCII.carriageReturn)
            output.append(ASCII.lineFeed)
        }
        entries.append(Entry(nameStart: start, nameEnd: nameEnd, valueEnd: nameEnd + 2 + value.count))
        if !name.isEmpty { traits |= FieldName.trait(length: name.count, initial: name[0]) }
    }

    /// Adds a field from a received line without its line end: RFC 9112 §5. The value is sanitised as in
    /// ``append(_:_:)``.
    /// - Returns: Whether the line is a field, with a token before its first colon. Any other line is not added.
    public mutating func append(line: Span<UInt8>) -> Bool {
        let colon = line.endOfRun(of: .token, from: 0, to: line.count)
        guard colon > 0, colon < line.count, line[colon] == ASCII.colon else { return false }
        var value = colon + 1
        while value < line.count, ASCII.isWhiteSpace(line[value]) { value += 1 }
        let start = lines.count
        lines.append(line.extracting(...colon))
        lines.append(ASCII.space)
        lines.append(line.extracting(value...))
        traits |= FieldName.trait(length: colon, initial: line[0])
        endLine(nameStart: start, valueStart: start + colon + 2)
        return true
    }

    /// Adds a line to the value of the last field, after a space: RFC 9112 §5.2, obsolete line folding.
    public mutating func append(folded line: Span<UInt8>) {
        guard let last = entries.popLast() else { return }
        lines.removeLast(lines.count - last.valueEnd)
        lines.append(ASCII.space)
        lines.append(line)
        endLine(nameStart: last.nameStart, valueStart: last.valueStart, checkedTo: last.valueEnd)
    }

    /// Replaces all fields of the name by one. It is placed where the first was, or at the end if there was none.
    public mutating func set(_ name: FieldName, _ value: String) {
        var fresh = Fields()
        fresh.append(name, value)
        replace(name, with: fresh)
    }

    /// Removes all fields of the name.
    public mutating func remove(_ name: FieldName) {
        guard contains(name) else { return }
        replace(name, with: Fields())
    }

    /// Adds the fields of another section at the end.
    public mutating func append(contentsOf other: borrowing Fields) {
        let offset = lines.count
        lines.append(contentsOf: other.lines)
        traits |= other.traits
        for entry in other.entries {
            entries.append(
                Entry(
                    nameStart: entry.nameStart + offset, nameEnd: entry.nameEnd + offset, valueEnd: entry.valueEnd + offset))
        }
    }

    private mutating func beginLine(_ name: FieldName) -> Int {
        lines.append(contentsOf: name.canonical.utf8)
        lines.append(ASCII.colon)
        lines.append(ASCII.space)
        return lines.count
    }

    private mutating func endLine(_ name: FieldName, valueStart: Int) {
        traits |= name.trait
        endLine(nameStart: valueStart - 2 - name.canonical.utf8.count, valueStart: valueStart)
    }

    /// - Parameter checked: The end of the bytes that are sanitised already; `nil` for none. A head of many folded lines would
    ///   otherwise cost the square of its length.
    private mutating func endLine(nameStart: Int, valueStart: Int, checkedTo checked: Int? = nil) {
        let start = checked ?? valueStart
        if lines.span.extracting(start...).containsControl {
            for index in start..<lines.count where ASCII.isControl(lines[index]) && lines[index] != ASCII.horizontalTab {
                lines[index] = ASCII.space
            }
        }
        while lines.count > valueStart, ASCII.isWhiteSpace(lines[lines.count - 1]) { lines.removeLast() }
        var leading = 0
        while valueStart + leading < lines.count, ASCII.isWhiteSpace(lines[valueStart + leading]) { leading += 1 }
        if leading > 0 { lines.removeSubrange(valueStart..<valueStart + leading) }
        endLegalLine(nameStart: nameStart, valueStart: valueStart)
    }

    private mutating func endLegalLine(_ name: FieldName, valueStart: Int) {
        traits |= name.trait
        endLegalLine(nameStart: valueStart - 2 - name.canonical.utf8.count, valueStart: valueStart)
    }

    private mutating func endLegalLine(nameStart: Int, valueStart: Int) {
        entries.append(Entry(nameStart: nameStart, nameEnd: valueStart - 2, valueEnd: lines.count))
        lines.append(ASCII.carriageReturn)
        lines.append(ASCII.lineFeed)
    }

    private mutating func copyLine(_ index: Int, of other: borrowing Fields) {
        let entry = other.entries[index]
        let offset = lines.count - entry.nameStart
        lines.append(contentsOf: other.lines[entry.nameStart..<entry.lineEnd])
        traits |= FieldName.trait(length: entry.nameEnd - entry.nameStart, initial: other.lines[entry.nameStart])
        entries.append(
            Entry(
                nameStart: entry.nameStart + offset, nameEnd: entry.nameEnd + offset, valueEnd: entry.valueEnd + offset))
    }

    private mutating func replace(_ name: FieldName, with replacement: Fields) {
        guard contains(name) else {
            append(contentsOf: replacement)
            return
        }
        var result = Fields()
        result.reserveCapacity(fields: entries.count, bytes: lines.count)
        var isSet = false
        for index in entries.indices {
            if !matches(index, name) {
                result.copyLine(index, of: self)
            } else if !isSet {
                result.append(contentsOf: replacement)
                isSet = true
            }
        }
        self = result
    }
}
