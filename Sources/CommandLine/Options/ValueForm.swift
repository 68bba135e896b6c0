internal import DownloadCore
internal import HTTPClient
internal import HTTPCore

/// A form of options' values: how help describes them, and how they are read.
struct ValueForm<Value: Sendable>: Sendable {
    /// The name of a value in help; `nil` for a switch, which needs no value.
    let placeholder: String?
    /// The accepted values, as the end of "takes …".
    let accepts: String
    /// The suggestions of a shell.
    var completion = Option.Completion.text
    /// Reads a value; `nil` if the text is not acceptable.
    let read: @Sendable (String) -> Value?
}

extension ValueForm where Value == Bool {
    /// A switch: on without a value, or with `=true`.
    static var toggle: ValueForm {
        ValueForm(placeholder: nil, accepts: "true or false") { text in
            switch text.lowercased() {
            case "true", "1", "yes", "on": true
            case "false", "0", "no", "off": false
            default: nil
            }
        }
    }
}

extension ValueForm where Value == String {
    /// A path of a file.
    static var path: ValueForm { path("PATH") }
    /// A path of a directory.
    static var directory: ValueForm { path("PATH", completion: .directory) }

    /// A path.
    static func path(
        _ placeholder: String, accepts: String = "a path", completion: Option.Completion = .file, limit: Int = .max
    ) -> ValueForm {
        ValueForm(placeholder: placeholder, accepts: accepts, completion: completion) {
            OptionTable.isPath($0) && $0.utf8.count <= limit ? $0 : nil
        }
    }

    /// A text.
    static func text(
        _ placeholder: String, accepts: String, where isAcceptable: @escaping @Sendable (String) -> Bool = { !$0.isEmpty }
    ) -> ValueForm {
        ValueForm(placeholder: placeholder, accepts: accepts) { isAcceptable($0) ? $0 : nil }
    }
}

extension ValueForm where Value: FixedWidthInteger {
    /// A whole number.
    static func number(_ range: ClosedRange<Value>) -> ValueForm {
        ValueForm(placeholder: "N", accepts: "a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            let digits = text.hasPrefix("-") && range.lowerBound < 0 ? text.dropFirst() : text[...]
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Value(text), range.contains(number)
            else { return nil }
            return number
        }
    }
}

extension ValueForm where Value: RawRepresentable<String> & CaseIterable {
    /// A raw value of an enumeration.
    static var choice: ValueForm {
        let names = Value.allCases.map(\.rawValue)
        return ValueForm(
            placeholder: names.joined(separator: "|"), accepts: "one of " + names.joined(separator: ", "),
            completion: .oneOf(names)
        ) { Value(rawValue: $0.lowercased()) }
    }
}

extension ValueForm where Value == Int64 {
    /// An amount of bytes.
    static var size: ValueForm { bytes("SIZE", "bytes") }
    /// A speed.
    static var rate: ValueForm { bytes("RATE", "bytes per second") }

    private static func bytes(_ placeholder: String, _ unit: String) -> ValueForm {
        ValueForm(placeholder: placeholder, accepts: "\(unit), \(ByteCount.accepted)") { ByteCount(parsing: $0)?.bytes }
    }
}

extension ValueForm where Value == Duration {
    /// A span of time.
    static var span: ValueForm { ValueForm(placeholder: "TIME", accepts: TimeSpan.accepted) { TimeSpan.parse($0) } }

    /// A span of time within limits in seconds.
    /// - Parameter limits: The limits as text, as in `3s to 1h`.
    static func span(_ range: ClosedRange<Int64>, _ limits: String) -> ValueForm {
        ValueForm(placeholder: "TIME", accepts: "\(TimeSpan.accepted), from \(limits)") { text in
            TimeSpan.parse(text).flatMap { (.seconds(range.lowerBound) ... .seconds(range.upperBound)).contains($0) ? $0 : nil }
        }
    }
}

extension ValueForm where Value == Duration? {
    /// A time limit of an origin; 0 is none.
    static var limit: ValueForm {
        ValueForm(placeholder: "TIME", accepts: TimeSpan.acceptedLimit) { TimeSpan.parseLimit($0) }
    }
}

extension ValueForm where Value == UInt32 {
    /// The permission bits of a mode.
    /// - Parameters:
    ///   - needed: The required bits.
    ///   - allowed: The allowed bits.
    static func mode(_ accepts: String, needing needed: UInt32, within allowed: UInt32) -> ValueForm {
        ValueForm(placeholder: "MODE", accepts: "three or four octal digits " + accepts) { text in
            guard (3...4).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x37).contains($0) }),
                let bits = UInt32(text, radix: 8), bits & needed == needed, bits & ~allowed == 0
            else { return nil }
            return bits
        }
    }
}

extension ValueForm where Value == HTTPURL {
    /// The URL of a service, without query and user.
    static func base(_ accepts: String) -> ValueForm {
        ValueForm(placeholder: "URL", accepts: "an http or https URL without " + accepts) { text in
            HTTPURL(text).flatMap { $0.query == nil && !$0.hasUserInfo ? $0 : nil }
        }
    }
}

extension ValueForm where Value == DestinationRule {
    /// A destination.
    static var destination: ValueForm {
        ValueForm(
            placeholder: "DESTINATION",
            accepts: "a host, *.suffix, an address or a block such as 10.0.0.0/8, each optionally with :port"
        ) { try? DestinationRule(parsing: $0) }
    }
}
