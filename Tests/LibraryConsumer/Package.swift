// swift-tools-version: 6.2
import PackageDescription

// A separate program that depends on this package. It imports the products, and sees only their public
// members.
let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
    .treatAllWarnings(as: .error),
]
let dependencies: [Target.Dependency] = [
    .product(name: "LazyImages", package: "marquee"),
    .product(name: "BackgroundTransfers", package: "marquee"),
]

let package = Package(
    name: "LibraryConsumer",
    dependencies: [.package(name: "marquee", path: "../..")],
    targets: [
        .executableTarget(
            name: "LibraryConsumer", dependencies: dependencies, swiftSettings: swiftSettings),
        // The README's Swift, word for word.
        .executableTarget(name: "ReadmeExample", dependencies: dependencies, swiftSettings: swiftSettings),
        // The program at the end of the article Getting started.
        .executableTarget(name: "LazyList", dependencies: dependencies, swiftSettings: swiftSettings),
        // For Tests/Faults/failing-loads.sh.
        .executableTarget(name: "FailingLoads", dependencies: dependencies, swiftSettings: swiftSettings),
        // What a Nuke, Kingfisher or SDWebImage user writes first. It is only compiled.
        .target(name: "FirstGuesses", dependencies: dependencies, swiftSettings: swiftSettings),
        // The articles' other Swift.
        .target(
            name: "ArticleExamples",
            dependencies: dependencies + [
                .product(name: "PictureService", package: "marquee"), "CGTK4", "Hummingbird", "Logging",
                "Metrics", "NIOCore",
            ],
            swiftSettings: swiftSettings),
        // What the articles use of other libraries. Nobody needs these to build or test.
        .target(name: "CGTK4", path: "Stubs/CGTK4", swiftSettings: swiftSettings),
        .target(name: "Logging", path: "Stubs/Logging", swiftSettings: swiftSettings),
        .target(name: "Metrics", path: "Stubs/Metrics", swiftSettings: swiftSettings),
        .target(name: "NIOCore", path: "Stubs/NIOCore", swiftSettings: swiftSettings),
        .target(
            name: "Hummingbird", dependencies: ["NIOCore"], path: "Stubs/Hummingbird",
            swiftSettings: swiftSettings),
    ]
)
