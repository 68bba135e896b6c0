extension ChunkedDecoder {
    /// chunk-ext of RFC 9112 §7.1.1: `*( BWS ";" BWS name [ BWS "=" BWS ( token / quoted-string ) ] )`.
    mutating func readExtension(_ byte: UInt8) throws(RequestError) {
        try countExtensionByte()
        switch phase {
        case .beforeExtension:
            if ASCII.isWhiteSpace(byte) { return }
            guard byte == ASCII.semicolon else { throw unexpected(byte) }
            phase = .extensionNameStart
        case .extensionNameStart:
            if ASCII.isWhiteSpace(byte) { return }
            guard ByteSet.token.contains(byte) else { throw unexpected(byte) }
            phase = .extensionName
        case .extensionName:
            if ByteSet.token.contains(byte) { return }
            switch byte {
            case ASCII.equals: phase = .extensionValueStart
            case ASCII.space, ASCII.horizontalTab: phase = .afterExtensionName
            default: try endElement(byte)
            }
        case .afterExtensionName:
            switch byte {
            case ASCII.space, ASCII.horizontalTab: break
            case ASCII.equals: phase = .extensionValueStart
            case ASCII.semicolon: phase = .extensionNameStart
            default: throw unexpected(byte)
            }
        case .extensionValueStart:
            if ASCII.isWhiteSpace(byte) { return }
            if byte == ASCII.doubleQuote {
                phase = .quotedValue
            } else {
                guard ByteSet.token.contains(byte) else { throw unexpected(byte) }
                phase = .extensionValue
            }
        case .extensionValue:
            if !ByteSet.token.contains(byte) { try endElement(byte) }
        case .quotedValue:
            if byte == ASCII.doubleQuote {
                phase = .afterQuotedValue
            } else if byte == ASCII.backslash {
                phase = .quotedPair
            } else if !ByteSet.quotedText.contains(byte) {
                throw unexpected(byte)
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

    /// The trailer section, RFC 9112 §7.1.2: field lines by the same rules as those of a head.
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
