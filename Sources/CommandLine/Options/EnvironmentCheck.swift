/// Finds the variables that look like options and are none: a misspelt one would be ignored without a word.
enum EnvironmentCheck {
    /// One line about all of them, by name only: a value may be a secret.
    static func warnings(about environment: [String: String]) -> [String] {
        let known = OptionTable.all.filter(\.isInEnvironment).map(\.environmentName)
        let unknown = environment.keys.sorted().filter { $0.hasPrefix("PAWL_") && !known.contains($0) && !isMadeByKubernetes($0) }
        guard !unknown.isEmpty else { return [] }
        let names = unknown.map { name in
            Spelling.nearest(to: name, among: known).map { "\(name) (did you mean \($0)?)" } ?? name
        }
        return ["ignoring unknown environment variables: " + names.joined(separator: ", ")]
    }

    /// Kubernetes describes each service to its neighbours: one called "pawl" by `PAWL_SERVICE_HOST`, `PAWL_PORT_8080_TCP` and
    /// more of that kind.
    private static func isMadeByKubernetes(_ name: String) -> Bool {
        name == "PAWL_SERVICE_HOST" || name.hasPrefix("PAWL_SERVICE_PORT") || name.hasPrefix("PAWL_PORT_")
    }
}
