/// Finds environment variables that look like options and are unknown, such as misspelt ones.
enum EnvironmentCheck {
    /// One line with the names of all unknown variables. Values are left out, since they may be secrets.
    static func warnings(about environment: [String: String]) -> [String] {
        let known = OptionTable.all.compactMap(\.variable)
        let unknown = environment.keys.sorted().filter { $0.hasPrefix("PAWL_") && !known.contains($0) && !isMadeByKubernetes($0) }
        guard !unknown.isEmpty else { return [] }
        let names = unknown.map { name in
            Spelling.nearest(to: name, among: known).map { "\(name) (did you mean \($0)?)" } ?? name
        }
        return ["ignoring unknown environment variables: " + names.joined(separator: ", ")]
    }

    /// Whether Kubernetes sets the variable for a service named "pawl", such as `PAWL_SERVICE_HOST` and
    /// `PAWL_PORT_8080_TCP`.
    private static func isMadeByKubernetes(_ name: String) -> Bool {
        name == "PAWL_SERVICE_HOST" || name.hasPrefix("PAWL_SERVICE_PORT") || name.hasPrefix("PAWL_PORT_")
    }
}
