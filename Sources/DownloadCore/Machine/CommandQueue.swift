extension DownloadMachine {
    /// The commands that wait, in order of arrival, with the facts that the first one needs.
    ///
    /// Facts are found when a command is about to be carried out. If it has to wait after all, they are found again.
    package struct CommandQueue: Sendable {
        /// The answers to queries about the first command; `nil`: not asked.
        package struct Facts: Sendable {
            var isExpected: Bool?
            var name: String?
            var placement: QueuePlacement?
        }

        private var commands: [Command] = []
        package private(set) var facts = Facts()
        /// Whether the last query has no answer yet.
        var awaitsFact = false
        /// The operation of the timer that limits the wait; `nil`: no command waits.
        var patience: Operation?
        /// Whether a download without a command that stops it enters the queue again.
        var requeuesAfterwards = false

        var first: Command? { commands.first }
        var isEmpty: Bool { commands.isEmpty }

        mutating func append(_ command: Command) {
            commands.append(command)
        }

        /// Removes the first command.
        /// - Returns: The facts about it.
        @discardableResult
        mutating func removeFirst() -> Facts {
            commands.removeFirst()
            defer { facts = Facts() }
            return facts
        }

        /// Removes all commands.
        /// - Returns: The removed commands.
        mutating func removeAll() -> [Command] {
            defer { (commands, facts) = ([], Facts()) }
            return commands
        }

        mutating func forgetFacts() {
            facts = Facts()
        }

        /// Adds the answer to the last query.
        mutating func supply(_ fact: Fact) {
            awaitsFact = false
            switch fact {
            case .version(let isExpected): facts.isExpected = isExpected
            case .name(let name): facts.name = name
            case .placement(let placement): facts.placement = placement
            }
        }
    }
}
