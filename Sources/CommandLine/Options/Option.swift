internal import Downloads
internal import PawlConfiguration

/// One option: how it is written, what it takes, what it means. Flags, environment, help and errors all follow from it.
struct Option: Sendable {
    /// What a shell can offer for a value.
    enum Completion: Sendable, Equatable {
        /// Nothing: it is the user's to know.
        case text
        case file
        case directory
        case oneOf([String])
    }

    /// The flag without its dashes, such as `max-concurrent`.
    let name: String
    /// What stands for the value in help; `nil` for a switch, which needs none.
    let placeholder: String?
    /// What it takes, as the end of "takes …".
    let accepts: String
    /// What help says of it.
    let meaning: String
    /// What help says of its default.
    let defaultText: String
    /// Whether it can be given several times, or separated by commas (see ``separator``) in the environment.
    let isRepeatable: Bool
    /// Whether its value may appear in a message.
    let isSecret: Bool
    /// Whether it is read from the environment as well.
    let isInEnvironment: Bool
    /// The commands that have it.
    let commands: Set<CommandName>
    /// The flag's short form, such as `o` for `-o`.
    private(set) var short: Character?
    /// Other names for it, which are taken and not advertised first.
    private(set) var aliases: [String] = []
    /// What a shell completes its value from.
    private(set) var completion = Completion.text
    /// What separates several values in the environment.
    private(set) var separator: Character = ","
    /// The variable's name, where it does not follow from the option's.
    private var variable: String?
    /// Takes one value; `false` if it is not acceptable.
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

    /// All ways to write it, the short one first: `-o`, `--output`.
    var flags: [String] { (short.map { ["-\($0)"] } ?? []) + [flag] + aliases.map { "--" + $0 } }

    /// The same option with a short form.
    func short(_ letter: Character) -> Option {
        var option = self
        option.short = letter
        return option
    }

    /// The same option, also under another name.
    func alias(_ name: String) -> Option {
        var option = self
        option.aliases.append(name)
        return option
    }

    /// The same option with something to offer for its value.
    func completed(from completion: Completion) -> Option {
        var option = self
        option.completion = completion
        return option
    }

    /// The same option, whose values have commas in them.
    func separated(by separator: Character) -> Option {
        var option = self
        option.separator = separator
        return option
    }

    /// The same option, read from another variable than the one called after it.
    func variable(_ name: String) -> Option {
        var option = self
        option.variable = name
        return option
    }

    /// The setting that it is the value of at the start, if it is one that can be changed at run time.
    var setting: ServiceSettings.Name? {
        switch name {
        case "max-concurrent": .maxConcurrent
        case "max-per-host": .maxPerHost
        case "segments": .segments
        case "speed-limit": .speedLimit
        default: nil
        }
    }

    /// `PAWL_MAX_CONCURRENT` for `max-concurrent`.
    var environmentName: String {
        variable ?? "PAWL_"
            + String(decoding: name.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }, as: UTF8.self).uppercased()
    }

    /// A switch: on when it is written alone, or followed by `=true`.
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

    /// One of the names of an enumeration.
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
