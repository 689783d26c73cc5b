// swift-tools-version: 6.2
import PackageDescription

// A program of somebody else's: it knows this package by its place and one product, imports only that, and sees only the
// members of what it imports.
let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
    .treatAllWarnings(as: .error),
]
let dependencies: [Target.Dependency] = [.product(name: "LazyImages", package: "marquee")]

let package = Package(
    name: "LibraryConsumer",
    dependencies: [.package(name: "marquee", path: "../..")],
    targets: [
        .executableTarget(
            name: "LibraryConsumer", dependencies: dependencies, swiftSettings: swiftSettings),
        // The Swift of the README, word for word.
        .executableTarget(name: "ReadmeExample", dependencies: dependencies, swiftSettings: swiftSettings),
        // The Swift of the articles that no other target has.
        .target(name: "ArticleExamples", dependencies: dependencies, swiftSettings: swiftSettings),
    ]
)
