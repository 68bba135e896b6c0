internal import DownloadCore
internal import PawlConfiguration

/// An option: its names, values and meaning. Flags, environment, help and errors all use it.
struct Option: Sendable {
    /// The suggestions of a shell for a value.
    enum Completion: Sendable, Equatable {
        /// No suggestions.
        case text
        case file
        case directory
        case oneOf([String])
    }

    /// The flag without its dashes, such as `max-concurrent`.
    let name: String
    /// The name of the value in help; `nil` for a switch, which needs no value.
    let placeholder: String?
    /// The accepted values, as the end of "takes …".
    let accepts: String
    /// The explanation in the help.
    let meaning: String
    /// The explanation of the default in the help.
    let defaultText: String
    /// Whether it can be repeated, or have several values in the environment (see ``separator``).
    let isRepeatable: Bool
    /// Whether messages must not contain its value.
    let isSecret: Bool
    /// Whether it is also read from the environment.
    let isInEnvironment: Bool
    /// The commands that have it.
    let commands: Set<CommandName>
    /// The flag's short form, such as `o` for `-o`.
    private(set) var short: Character?
    /// Further accepted names, which help lists last.
    private(set) var aliases: [String] = []
    /// The suggestions of a shell for its value.
    private(set) var completion = Completion.text
    /// The separator of several values in the environment.
    private(set) var separator: Character = ","
    /// The value of the flag if no value follows; `nil` if it needs one.
    private(set) var valueAlone: String?
    /// The name of the variable, if it does not follow from the option's name.
    private var variable: String?
    /// Applies a value; returns `false` if it is not acceptable.
    let apply: @Sendable (inout Invocation, String) -> Bool

    init(
        _ name: String, _ placeholder: String?, accepts: String, default defaultText: String, _ meaning: String,
        isSecret: Bool = false, isRepeatable: Bool = false, isInEnvironment: Bool = true,
        commands: Set<CommandName> = CommandName.services,
        apply: @escaping @Sendable (inout Invocation, String) -> Bool
    ) {
        self.name = name
        self.placeholder = placeholder
        self.accepts = accepts
        self.meaning = meaning
        self.defaultText = defaultText
        self.isSecret = isSecret
        self.isInEnvironment = isInEnvironment
        self.commands = commands
        self.isRepeatable = isRepeatable
        self.apply = apply
    }

    var flag: String { "--" + name }

    /// All spellings, the short one first: `-o`, `--output`.
    var flags: [String] { (short.map { ["-\($0)"] } ?? []) + [flag] + aliases.map { "--" + $0 } }

    /// Returns the option with a short form.
    func short(_ character: Character) -> Option {
        var option = self
        option.short = character
        return option
    }

    /// Returns the option with a further name.
    func alias(_ name: String) -> Option {
        var option = self
        option.aliases.append(name)
        return option
    }

    /// Returns the option with suggestions for its value.
    func completed(from completion: Completion) -> Option {
        var option = self
        option.completion = completion
        return option
    }

    /// Returns the option with another separator, for values that contain commas.
    func separated(by separator: Character) -> Option {
        var option = self
        option.separator = separator
        return option
    }

    /// Returns the option with a value for the flag without one.
    func alone(_ value: String) -> Option {
        var option = self
        option.valueAlone = value
        return option
    }

    /// Returns the option with another variable than the one named after it.
    func variable(_ name: String) -> Option {
        var option = self
        option.variable = name
        return option
    }

    /// The setting with the same value at the start; `nil` if the option is not one of the settings that can change at
    /// run time.
    var setting: ServiceSettings.Name? {
        switch name {
        case "max-concurrent": .maxConcurrent
        case "max-per-host": .maxPerHost
        case "segments": .segments
        case "speed-limit": .speedLimit
        default: nil
        }
    }

    /// The name of the variable: `PAWL_MAX_CONCURRENT` for `max-concurrent`.
    var environmentName: String {
        variable ?? "PAWL_"
            + String(decoding: name.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }, as: UTF8.self).uppercased()
    }

    /// A switch: on without a value, or with `=true`.
    static func toggle(
        _ name: String, _ meaning: String, commands: Set<CommandName> = CommandName.services,
        _ property: any WritableKeyPath<Configuration, Bool> & Sendable
    ) -> Option {
        Option(name, nil, accepts: "true or false", default: "off", meaning, commands: commands) { invocation, value in
            switch value.lowercased() {
            case "true", "1", "yes", "on": invocation.configuration[keyPath: property] = true
            case "false", "0", "no", "off": invocation.configuration[keyPath: property] = false
            default: return false
            }
            return true
        }
    }

    /// A whole number in a range.
    static func number<Number: FixedWidthInteger & Sendable>(
        _ name: String, _ range: ClosedRange<Number>, default defaultText: String, _ meaning: String,
        commands: Set<CommandName> = CommandName.services,
        _ property: any WritableKeyPath<Configuration, Number> & Sendable
    ) -> Option {
        number(name, range, default: defaultText, meaning, commands: commands) { $0[keyPath: property] = $1 }
    }

    /// A whole number.
    static func number<Number: FixedWidthInteger & Sendable>(
        _ name: String, _ range: ClosedRange<Number>, default defaultText: String, _ meaning: String,
        commands: Set<CommandName> = CommandName.services,
        _ set: @escaping @Sendable (inout Configuration, Number) -> Void
    ) -> Option {
        let accepts =
            range.upperBound == Number.max
            ? "a whole number, \(range.lowerBound) or more" : "a whole number from \(range.lowerBound) to \(range.upperBound)"
        return Option(name, "N", accepts: accepts, default: defaultText, meaning, commands: commands) { invocation, value in
            guard value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Number(value), range.contains(number)
            else { return false }
            set(&invocation.configuration, number)
            return true
        }
    }

    /// A raw value of an enumeration.
    static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, default defaultText: String, _ meaning: String,
        commands: Set<CommandName> = CommandName.services,
        _ property: any WritableKeyPath<Configuration, Choice> & Sendable
    ) -> Option {
        let names = Choice.allCases.map(\.rawValue)
        return Option(
            name, names.joined(separator: "|"), accepts: "one of " + names.joined(separator: ", "), default: defaultText, meaning,
            commands: commands
        ) { invocation, value in
            guard let choice = Choice(rawValue: value.lowercased()) else { return false }
            invocation.configuration[keyPath: property] = choice
            return true
        }
        .completed(from: .oneOf(names))
    }
}
