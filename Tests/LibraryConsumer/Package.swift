// swift-tools-version: 6.2
import PackageDescription

// A program of somebody else's: it knows this package by its place and its products only.
let package = Package(
    name: "LibraryConsumer",
    dependencies: [.package(name: "marquee", path: "../..")],
    targets: [
        .executableTarget(
            name: "LibraryConsumer",
            dependencies: [
                .product(name: "LazyImages", package: "marquee"),
                .product(name: "ImageCodecs", package: "marquee"),
            ])
    ]
)
