// swift-tools-version: 6.2
import PackageDescription

/// The settings every Swift target is built with. Warnings are errors; unsafe constructs must be marked where they stand.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// The settings of what users run. Regular expressions are not used there, and would be in memory. The linker orders functions
/// if each has a section.
let product: [SwiftSetting] =
    strict + [
        .unsafeFlags(["-Xfrontend", "-disable-implicit-string-processing-module-import"]),
        .unsafeFlags(["-Xfrontend", "-function-sections"], .when(platforms: [.linux], configuration: .release)),
    ]

/// Joins equal functions, and puts the ones that every start runs side by side. Other linkers than gold have no such order:
/// `BUILD_LINKER` names the one that the command line chooses.
let order: [LinkerSetting] =
    Context.environment["BUILD_LINKER"] != nil
    ? []
    : [
        .unsafeFlags(
            [
                "-use-ld=gold", "-Xlinker", "--icf=safe", "-Xlinker",
                "--section-ordering-file=\(Context.packageDirectory)/Sources/pawl/sections.txt",
            ], .when(platforms: [.linux], configuration: .release))
    ]

/// Linked by exact file name on Linux, where the toolchain itself needs it at run time: no development package has to be
/// installed.
let sqlite: [LinkerSetting] = [
    .linkedLibrary(":libsqlite3.so.0", .when(platforms: [.linux])),
    .linkedLibrary("sqlite3", .when(platforms: [.macOS])),
]

/// For modules that no transfer and no request of a busy service waits for.
let small: [SwiftSetting] = [.unsafeFlags(["-Osize"], .when(configuration: .release))]

func module(
    _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [], resources: [Resource]? = nil,
    settings: [SwiftSetting] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, exclude: ["README.md"] + exclude, resources: resources,
        swiftSettings: product + settings)
}

func tests(
    _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [], resources: [Resource]? = nil
) -> Target {
    .testTarget(
        name: name + "Tests", dependencies: dependencies + ["TestSupport"], exclude: exclude, resources: resources,
        swiftSettings: strict)
}

/// The modules that `Downloads` is built on.
let downloads: [Target.Dependency] = ["DownloadCore", "DownloadFiles", "DownloadStore", "DownloadTransfer", "DownloadIndex"]

/// What only the benchmarks build. The first needs what tests may see (`-enable-testing`).
let benchmarks: [Target] =
    Context.environment["PAWL_BENCHMARKS"] == nil
    ? []
    : [
        .executableTarget(
            name: "store-benchmark", dependencies: downloads + ["Downloads"], path: "Benchmarks/Store", swiftSettings: strict),
        .executableTarget(
            name: "faulty-upstream", dependencies: ["TestUpstream"], path: "Benchmarks/Upstream", swiftSettings: strict),
    ]

let package = Package(
    name: "pawl",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "pawl", targets: ["pawl"])],
    targets: [
        .target(name: "CSystem"),
        // Links nothing: it loads libcurl for the first transfer.
        .target(name: "CCurl"),
        .target(name: "CSQLite", linkerSettings: sqlite),
        // Links nothing: it finds libpq when it is first used.
        .target(name: "CPostgres"),
        // The console, the clients and the documents, which the service serves.
        .target(name: "CResources"),

        module("System", ["CSystem"]),
        module("JSON"),
        module("HTTPCore"),
        module("Terminal", ["System"], settings: small),
        module("HTTPServer", ["HTTPCore", "System", "CSystem"]),
        module("HTTPClient", ["HTTPCore", "System", "CCurl", "CSystem"]),
        module("Postgres", ["HTTPCore", "System", "CPostgres"]),
        module("XML", ["HTTPCore", "System"]),
        module("ObjectStorage", ["HTTPClient", "HTTPCore", "System", "XML"]),
        module("Feeds", ["HTTPCore", "JSON", "System", "XML"]),
        module("Catalog", ["Feeds", "HTTPClient", "HTTPCore", "JSON", "System", "XML"]),
        module("DownloadCore", ["HTTPCore", "JSON", "System"]),
        module("DownloadFiles", ["DownloadCore", "HTTPCore", "ObjectStorage", "System"]),
        module(
            "DownloadStore",
            ["DownloadCore", "DownloadFiles", "HTTPCore", "JSON", "Postgres", "System", "CSQLite", "CSystem"],
            resources: [.embedInCode("SQL")]),
        module("DownloadTransfer", ["DownloadCore", "DownloadFiles", "HTTPClient", "HTTPCore", "JSON", "System"]),
        module("DownloadIndex", ["DownloadCore", "HTTPCore", "System", "CSystem"]),
        module("Downloads", downloads + ["HTTPClient", "HTTPCore", "JSON", "ObjectStorage", "Postgres", "System"]),
        module(
            "Subscriptions",
            ["Catalog", "DownloadCore", "DownloadIndex", "Downloads", "Feeds", "HTTPClient", "HTTPCore", "JSON", "System"],
            settings: small),
        module("Aria2", ["DownloadCore", "DownloadIndex", "Downloads", "HTTPServer", "HTTPCore", "JSON", "System", "XML"]),
        module(
            "DemoUpstream", ["HTTPServer", "HTTPCore", "JSON", "System"], resources: [.embedInCode("Data")], settings: small),
        module(
            "PawlConfiguration",
            ["DownloadCore", "Downloads", "HTTPClient", "HTTPCore", "HTTPServer", "JSON", "ObjectStorage", "Terminal", "System"],
            settings: small),
        module(
            "CommandLine",
            [
                "PawlConfiguration", "DownloadCore", "DownloadIndex", "DownloadStore", "Downloads", "HTTPClient", "HTTPCore",
                "HTTPServer", "JSON", "ObjectStorage", "Terminal", "System",
            ], settings: small),
        module(
            "PawlService",
            [
                "PawlConfiguration", "Aria2", "HTTPServer", "HTTPCore", "HTTPClient", "Catalog", "DownloadCore",
                "DownloadIndex", "Downloads", "Feeds", "JSON", "Subscriptions", "System", "CResources", "CSystem",
            ],
            exclude: ["Resources"]),
        module(
            "PawlClient",
            [
                "CommandLine", "PawlConfiguration", "DownloadCore", "Downloads", "HTTPClient", "HTTPCore", "JSON", "Terminal",
                "System",
            ], settings: small),
        .executableTarget(
            name: "pawl",
            dependencies: [
                "CommandLine", "PawlConfiguration", "PawlService", "PawlClient", "DemoUpstream", "Downloads", "HTTPClient",
                "HTTPCore", "System",
            ],
            exclude: ["sections.txt"], swiftSettings: product, linkerSettings: order),

        // Makes the page of /docs from openapi.yaml, and the table of docs/options.md. No part of the product.
        .executableTarget(
            name: "reference", dependencies: ["CommandLine", "System"], exclude: ["README.md"], swiftSettings: strict),

        .target(name: "CTestSupport", path: "Tests/CTestSupport"),
        .target(
            name: "TestSupport", dependencies: ["CSystem", "CTestSupport"], path: "Tests/TestSupport", swiftSettings: strict),
        .target(
            name: "TestUpstream", dependencies: ["DemoUpstream", "HTTPServer", "HTTPCore", "System"], path: "Tests/TestUpstream",
            swiftSettings: strict),
        .target(
            name: "FuzzProperties", dependencies: ["Feeds", "HTTPClient", "HTTPCore", "JSON", "System", "XML"],
            path: "Tests/Fuzz/Properties",
            swiftSettings: strict),
        tests("Fuzz", ["FuzzProperties"]),
        tests("System", ["System", "CSystem"]),
        tests("JSON", ["JSON"]),
        tests("HTTPCore", ["HTTPCore", "FuzzProperties"]),
        tests("HTTPServer", ["HTTPServer", "HTTPCore", "System"]),
        tests("Postgres", ["Postgres", "CPostgres", "System"]),
        tests("HTTPClient", ["HTTPClient", "HTTPCore", "System", "CCurl"]),
        tests("XML", ["XML"]),
        tests("Feeds", ["Feeds", "HTTPCore", "XML"]),
        tests("ObjectStorage", ["ObjectStorage", "HTTPClient", "HTTPCore", "System"]),
        tests("Catalog", ["Catalog", "HTTPClient", "JSON", "System"], resources: [.copy("Fixtures")]),
        tests(
            "Downloads",
            downloads + [
                "Downloads", "HTTPClient", "HTTPCore", "TestUpstream", "JSON", "ObjectStorage", "Postgres", "System", "CSystem",
            ],
            exclude: ["Machine/MachineTable.txt"]),
        tests(
            "Subscriptions",
            downloads + ["Subscriptions", "Catalog", "Downloads", "HTTPClient", "HTTPCore", "JSON", "System"]),
        tests("Aria2", downloads + ["Aria2", "Downloads", "HTTPServer", "HTTPCore", "JSON", "System"]),
        tests("DemoUpstream", ["DemoUpstream", "TestUpstream", "HTTPServer", "HTTPCore", "JSON", "System"]),
        tests("Terminal", ["Terminal"]),
        tests(
            "CommandLine",
            downloads + [
                "CommandLine", "PawlConfiguration", "TestUpstream", "Downloads", "HTTPClient", "HTTPCore", "HTTPServer", "JSON",
                "ObjectStorage", "Terminal",
            ]),
        tests(
            "PawlService",
            downloads + [
                "PawlService", "PawlConfiguration", "Catalog", "TestUpstream", "Downloads", "Feeds", "HTTPServer", "HTTPClient",
                "HTTPCore",
                "JSON", "ObjectStorage", "Subscriptions", "System",
            ]),
        tests(
            "PawlClient",
            downloads + [
                "PawlClient", "CommandLine", "PawlConfiguration", "PawlService", "TestUpstream", "Downloads", "HTTPClient",
                "HTTPCore", "HTTPServer", "JSON", "System", "Terminal",
            ]),
        tests("Reference", ["reference", "CommandLine", "PawlService", "PawlConfiguration", "HTTPCore"]),
        tests("BlackBox", ["JSON"]),
    ] + benchmarks
)

// `./dev NAME` builds the test targets that it names and the targets that these depend on.
if let names = Context.environment["PAWL_TESTS"], !names.isEmpty {
    var kept: Set<String> = []
    var added = names.split(separator: " ").map(String.init)
    while let name = added.popLast() {
        guard kept.insert(name).inserted else { continue }
        for case .byNameItem(let dependency, _) in package.targets.first(where: { $0.name == name })?.dependencies ?? [] {
            added.append(dependency)
        }
    }
    package.targets.removeAll { !kept.contains($0.name) }
    package.products = []
}
