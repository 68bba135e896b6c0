internal import DownloadCore
internal import PawlConfiguration

/// An option: its names, values, meaning and use. Flags, environment, help, pages and errors all follow from it.
package struct Option: Sendable {
    /// The suggestions of a shell for a value.
    enum Completion: Sendable, Equatable {
        /// No suggestions.
        case text
        case file
        case directory
        case oneOf([String])
    }

    /// The flag without its dashes, such as `max-concurrent`.
    package let name: String
    /// The name of the value in help; `nil` for a switch, which needs no value.
    package internal(set) var placeholder: String?
    /// The accepted values, as the end of "takes …".
    package let accepts: String
    /// The explanation in the help.
    package let meaning: String
    /// The explanation of the default in the help.
    package let defaultText: String
    /// The commands that have it.
    package let commands: Set<CommandName>
    /// Whether it can be repeated, or have several values in the environment (see ``separator``).
    package internal(set) var isRepeatable = false
    /// Whether messages must not contain its value.
    var isSecret = false
    /// The flag's short form, such as `o` for `-o`.
    var short: Character?
    /// Further accepted names, which help lists last.
    var aliases: [String] = []
    /// The suggestions of a shell for its value.
    var completion: Completion
    /// The separator of several values in the environment.
    var separator: Character = ","
    /// The value of the flag if no value follows; `nil` if it needs one.
    var valueAlone: String?
    /// The setting with the same value at the start; `nil` if the option is not one of the settings that can change at
    /// run time.
    var setting: ServiceSettings.Name?
    /// The name of the variable, such as `PAWL_MAX_CONCURRENT` for `max-concurrent`; `nil` if it is not read from the
    /// environment. Options of services are.
    var variable: String?
    /// Applies a value; returns `false` if it is not acceptable.
    var apply: @Sendable (inout Invocation, String) -> Bool

    /// An option whose value a closure applies; it returns `false` for a value that is one too many.
    init<Value: Sendable>(
        _ name: String, _ form: ValueForm<Value>, default defaultText: String? = nil, _ meaning: String,
        commands: Set<CommandName> = CommandName.services, use: @escaping @Sendable (inout Invocation, Value) -> Bool
    ) {
        self.name = name
        placeholder = form.placeholder
        accepts = form.accepts
        completion = form.completion
        self.meaning = meaning
        self.defaultText = defaultText ?? (form.placeholder == nil ? "off" : "none")
        self.commands = commands
        if !commands.isDisjoint(with: CommandName.services) {
            variable = "PAWL_" + String(name.map { $0 == "-" ? "_" : $0 }).uppercased()
        }
        apply = { invocation, text in form.read(text).map { use(&invocation, $0) } ?? false }
    }

    /// An option that sets a property.
    init<Value: Sendable>(
        _ name: String, _ form: ValueForm<Value>, default defaultText: String? = nil, _ meaning: String,
        commands: Set<CommandName> = CommandName.services, _ property: any WritableKeyPath<Invocation, Value> & Sendable
    ) {
        self.init(name, form, default: defaultText, meaning, commands: commands) { invocation, value in
            invocation[keyPath: property] = value
            return true
        }
    }

    /// An option that sets a property which has no value without it.
    init<Value: Sendable>(
        _ name: String, _ form: ValueForm<Value>, default defaultText: String? = nil, _ meaning: String,
        commands: Set<CommandName> = CommandName.services, _ property: any WritableKeyPath<Invocation, Value?> & Sendable
    ) {
        self.init(name, form, default: defaultText, meaning, commands: commands) { invocation, value in
            invocation[keyPath: property] = value
            return true
        }
    }

    /// An option that may be repeated, and adds to a list.
    init<Value: Sendable>(
        _ name: String, _ form: ValueForm<Value>, default defaultText: String? = nil, _ meaning: String,
        commands: Set<CommandName> = CommandName.services, limit: Int = .max,
        adding property: any WritableKeyPath<Invocation, [Value]> & Sendable
    ) {
        self.init(name, form, default: defaultText, meaning, commands: commands) { invocation, value in
            invocation[keyPath: property].append(value)
            return invocation[keyPath: property].count <= limit
        }
        isRepeatable = true
    }

    package var flag: String { "--" + name }

    /// All spellings, the short one first: `-o`, `--output`.
    var flags: [String] { (short.map { ["-\($0)"] } ?? []) + [flag] + aliases.map { "--" + $0 } }

    /// Returns the option with another property.
    func with<Value>(_ property: WritableKeyPath<Option, Value>, _ value: Value) -> Option {
        var option = self
        option[keyPath: property] = value
        return option
    }

    /// Returns the option in the place of another one, which it clears.
    func replacing(_ clear: @escaping @Sendable (inout Invocation) -> Void) -> Option {
        with(\.apply) { [apply] invocation, text in
            clear(&invocation)
            return apply(&invocation, text)
        }
    }
}
