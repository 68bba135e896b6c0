// swift-tools-version: 6.2
import PackageDescription

/// Warnings are errors. Only those about declarations that newer systems deprecate are none: they must not break apps.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .treatWarning("DeprecatedDeclaration", as: .warning),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "PawlKit",
    platforms: [.iOS(.v15), .macOS(.v12)],
    products: [.library(name: "PawlKit", targets: ["PawlKit"])],
    targets: [
        .target(name: "PawlKit", swiftSettings: strict),
        .testTarget(name: "PawlKitTests", dependencies: ["PawlKit"], swiftSettings: strict),
    ]
)
