extension ChunkedDecoder {
    /// Reads a byte of the chunk-ext of RFC 9112 §7.1.1:
    /// `*( BWS ";" BWS name [ BWS "=" BWS ( token / quoted-string ) ] )`.
    mutating func readExtension(_ byte: UInt8) throws(RequestError) {
        try countExtensionByte()
        switch phase {
        case .beforeExtension:
            if ASCII.isWhiteSpace(byte) { return }
            guard byte == ASCII.semicolon else { throw unexpected(byte) }
            phase = .extensionNameStart
        case .extensionNameStart, .extensionName, .afterExtensionName: try readExtensionName(byte)
        default: try readExtensionValue(byte)
        }
    }

    private mutating func readExtensionName(_ byte: UInt8) throws(RequestError) {
        switch (phase, byte) {
        case (.extensionNameStart, ASCII.space), (.extensionNameStart, ASCII.horizontalTab): break
        case (.extensionNameStart, _):
            guard ByteSet.token.contains(byte) else { throw unexpected(byte) }
            phase = .extensionName
        case (.extensionName, _) where ByteSet.token.contains(byte): break
        case (_, ASCII.equals): phase = .extensionValueStart
        case (_, ASCII.space), (_, ASCII.horizontalTab): phase = .afterExtensionName
        case (.extensionName, _): try endElement(byte)
        case (_, ASCII.semicolon): phase = .extensionNameStart
        default: throw unexpected(byte)
        }
    }

    private mutating func readExtensionValue(_ byte: UInt8) throws(RequestError) {
        switch phase {
        case .extensionValueStart:
            if ASCII.isWhiteSpace(byte) { return }
            guard byte == ASCII.doubleQuote || ByteSet.token.contains(byte) else { throw unexpected(byte) }
            phase = byte == ASCII.doubleQuote ? .quotedValue : .extensionValue
        case .extensionValue: if !ByteSet.token.contains(byte) { try endElement(byte) }
        case .quotedValue:
            switch byte {
            case ASCII.doubleQuote: phase = .afterQuotedValue
            case ASCII.backslash: phase = .quotedPair
            default: guard ByteSet.quotedText.contains(byte) else { throw unexpected(byte) }
            }
        case .quotedPair:
            guard ByteSet.fieldValue.contains(byte) else { throw unexpected(byte) }
            phase = .quotedValue
        case .afterQuotedValue: try endElement(byte)
        default: break
        }
    }

    private func unexpected(_ byte: UInt8) -> RequestError {
        byte == ASCII.lineFeed ? .bareLineEnd : .malformedChunk("\(ASCII.describe(byte)) in a chunk's extension")
    }

    /// Reads a byte of the trailer section (RFC 9112 §7.1.2), whose field lines have the same rules as a head's.
    mutating func readTrailer(_ byte: UInt8) throws(RequestError) {
        try countTrailerByte()
        switch phase {
        case .trailerStart:
            switch byte {
            case ASCII.carriageReturn: phase = .endLineFeed
            case ASCII.lineFeed: throw .bareLineEnd
            default:
                guard ByteSet.token.contains(byte) else {
                    throw .malformedField("\(ASCII.describe(byte)) at the beginning of a trailer")
                }
                try countTrailerField()
                phase = .trailerName
            }
        case .trailerName:
            if byte == ASCII.colon {
                phase = .trailerValue
            } else if byte == ASCII.lineFeed {
                throw .bareLineEnd
            } else if !ByteSet.token.contains(byte) {
                throw .malformedField("\(ASCII.describe(byte)) in the name of a trailer")
            }
        case .trailerValue:
            if byte == ASCII.carriageReturn {
                phase = .trailerLineFeed
            } else if byte == ASCII.lineFeed {
                throw .bareLineEnd
            } else if !ByteSet.fieldValue.contains(byte) {
                throw .malformedField("\(ASCII.describe(byte)) in the value of a trailer")
            }
        case .trailerLineFeed:
            guard byte == ASCII.lineFeed else { throw .bareLineEnd }
            phase = .trailerStart
        case .endLineFeed:
            guard byte == ASCII.lineFeed else { throw .bareLineEnd }
            phase = .finished
        default: break
        }
    }
}
