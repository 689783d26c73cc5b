// swift-tools-version: 6.2
import PackageDescription

// No package dependencies: only the toolchain, the C library, and libcurl and SQLite at run time.

// SwiftPM refuses flags in a package that is fetched as a dependency, where they are left out.
let isDependency = Context.packageDirectory.contains("/checkouts/")
func flags(_ flags: [String], _ configuration: BuildConfiguration) -> [SwiftSetting] {
    isDependency ? [] : [.unsafeFlags(flags, .when(configuration: configuration))]
}

let common: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .strictMemorySafety(),
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ]
    // Of the debug information, release builds have functions and lines only: the program is a quarter smaller.
    + flags(["-Xfrontend", "-gline-tables-only"], .release)
    // The index that editors read has our modules only: that of the standard library takes six seconds of a first build.
    + flags(["-index-ignore-system-modules"], .debug)
let cSettings: [CSetting] = [.treatAllWarnings(as: .error)]

// Compiles a module in one process: otherwise three of them read its declarations, and expand each @Test.
let whole = [
    "-whole-module-optimization", "-num-threads", "2", "-no-emit-module-separately-wmo",
    "-disable-batch-mode",
]

// Compiled whole, a module takes less processor time: HTTPServer 6 s instead of 10, LazyImages 24 instead of 28, and the
// tests a third less. After a change of one file, file by file is quicker: MARQUEE_INCREMENTAL=1 does that.
let isIncremental = Context.environment["MARQUEE_INCREMENTAL"] == "1"
let swiftSettings = common + (isIncremental ? [] : flags(whole, .debug))

// Debug builds optimise only what hashes, decodes, shares flights, reads documents, paints cells, and draws the browser.
// Without that most of the time of the tests is theirs, and a held key is slow. The codecs' vector helpers are generic
// and in another file: only a whole module specialises them. Assertions remain, as do the checks under DEBUG.
let optimised = common + flags(whole + ["-O", "-assert-config", "Debug"], .debug)

// The program's commands hand work to the modules below, and gain nothing from the optimiser: it would take a sixth of
// a release build, at its end, on one core. Debug builds compile them file by file, for the last module has both cores.
let cold = common + flags(["-Onone", "-assert-config", "Release"], .release)

// These tests export a getaddrinfo of their own, which libcurl uses too: see RebindingHost.
let ownNames: [LinkerSetting] = [.unsafeFlags(["-Xlinker", "--export-dynamic-symbol=getaddrinfo"])]

let package = Package(
    name: "marquee",
    products: [
        .library(name: "LazyImages", targets: ["LazyImages"]),
        .library(name: "BackgroundTransfers", targets: ["BackgroundTransfers"]),
        .library(name: "ImageCodecs", targets: ["ImageCodecs"]),
        .library(name: "PictureService", targets: ["PictureService"]),
        .executable(name: "marquee", targets: ["marquee"]),
    ],
    targets: [
        .target(name: "CMarqueeCurl", dependencies: ["CMarqueeSystem"], cSettings: cSettings),
        .target(name: "CMarqueeSQLite", dependencies: ["CMarqueeSystem"], cSettings: cSettings),
        // The sample catalogue, in the program: three megabytes.
        .target(name: "CSample", cSettings: cSettings),
        .target(name: "CMarqueeSystem", cSettings: cSettings),
        .target(name: "Hashing", swiftSettings: optimised),
        .target(name: "Locking", swiftSettings: swiftSettings),
        .target(
            name: "SystemSupport", dependencies: ["Locking", "CMarqueeSystem"], swiftSettings: swiftSettings),
        .target(name: "HTTPSemantics", swiftSettings: swiftSettings),
        .target(
            name: "ImageCodecs", dependencies: ["Locking"], resources: [.embedInCode("WebP/Tables")],
            swiftSettings: optimised),
        .target(
            name: "Coalescing", dependencies: ["SystemSupport"],
            swiftSettings: optimised + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
        .target(
            name: "LazyImages",
            dependencies: [
                "Hashing", "SystemSupport", "HTTPSemantics", "ImageCodecs", "Coalescing", "CMarqueeCurl",
                "CMarqueeSystem",
            ],
            // A load calls about thirty async functions. Otherwise each would switch executors, and back.
            swiftSettings: swiftSettings + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
        .target(
            name: "BackgroundTransfers",
            dependencies: ["SystemSupport", "HTTPSemantics", "LazyImages", "CMarqueeSystem"],
            swiftSettings: swiftSettings + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
        .target(
            name: "Films", dependencies: ["Hashing", "SystemSupport", "HTTPSemantics"],
            swiftSettings: optimised),
        .target(
            name: "FilmSources",
            dependencies: [
                "Hashing", "SystemSupport", "HTTPSemantics", "LazyImages", "Films", "CMarqueeSQLite",
            ],
            swiftSettings: swiftSettings),
        .target(
            name: "TerminalGraphics",
            dependencies: ["SystemSupport", "ImageCodecs", "CMarqueeSystem"],
            swiftSettings: optimised),
        .target(
            name: "FilmBrowser",
            dependencies: [
                "Hashing", "SystemSupport", "ImageCodecs", "LazyImages", "BackgroundTransfers", "Films",
                "TerminalGraphics",
            ],
            swiftSettings: optimised),
        .target(
            name: "HTTPServer",
            dependencies: ["SystemSupport", "HTTPSemantics", "CMarqueeSystem"],
            swiftSettings: swiftSettings),
        .target(
            name: "ServiceOperations",
            dependencies: ["SystemSupport", "HTTPSemantics", "HTTPServer"],
            swiftSettings: swiftSettings),
        .target(
            name: "CatalogueService",
            dependencies: [
                "Hashing", "SystemSupport", "HTTPSemantics", "HTTPServer", "ImageCodecs", "Films",
                "FilmSources",
                "PictureServer", "PictureService", "ServiceOperations", "LazyImages", "CMarqueeSystem",
            ],
            swiftSettings: swiftSettings),
        .target(
            name: "PictureService",
            dependencies: ["Hashing", "SystemSupport", "HTTPSemantics", "ImageCodecs", "LazyImages"],
            swiftSettings: swiftSettings),
        .target(
            name: "PictureServer",
            dependencies: [
                "Hashing", "SystemSupport", "HTTPSemantics", "HTTPServer", "ImageCodecs", "LazyImages",
                "Coalescing",
                "PictureService", "CMarqueeSystem",
            ],
            swiftSettings: swiftSettings),
        .executableTarget(
            name: "marquee",
            dependencies: [
                "Hashing", "SystemSupport", "LazyImages", "BackgroundTransfers", "ImageCodecs", "Films",
                "FilmSources",
                "FilmBrowser", "TerminalGraphics", "HTTPSemantics", "HTTPServer", "ServiceOperations",
                "CatalogueService", "PictureServer", "PictureService", "CMarqueeSystem", "CSample",
            ],
            swiftSettings: cold),
        .executableTarget(
            name: "marquee-bench",
            // It reads the browser's screen as the tests do: in a pseudoterminal with a virtual screen.
            dependencies: [
                "SystemSupport", "LazyImages", "ImageCodecs", "CatalogueService", "FilmSources",
                "HTTPServer", "HTTPSemantics",
                "TestSupport",
            ],
            path: "Tests/Benchmarks/marquee-bench",
            swiftSettings: swiftSettings),

        .target(
            name: "TestSupport",
            dependencies: [
                "SystemSupport", "ImageCodecs", "LazyImages", "Films", "TerminalGraphics", "CMarqueeSystem",
            ],
            path: "Tests/TestSupport",
            swiftSettings: swiftSettings),
        .target(
            name: "TestNames",
            dependencies: ["SystemSupport"],
            path: "Tests/TestNames",
            swiftSettings: swiftSettings),
        .target(
            name: "TestTraits",
            dependencies: ["SystemSupport", "TestSupport"],
            path: "Tests/TestTraits",
            swiftSettings: swiftSettings),
        .testTarget(
            name: "SystemSupportTests",
            dependencies: ["SystemSupport", "TestSupport", "TestTraits", "CMarqueeSystem"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "HashingTests", dependencies: ["Hashing", "SystemSupport", "TestSupport", "TestTraits"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "HTTPSemanticsTests", dependencies: ["HTTPSemantics", "TestTraits"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "ImageCodecsTests",
            dependencies: [
                "ImageCodecs", "LazyImages", "Hashing", "SystemSupport", "TestSupport", "TestTraits",
            ],
            exclude: ["Resources"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "CoalescingTests",
            dependencies: ["Coalescing", "SystemSupport", "TestSupport", "TestTraits"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "LazyImagesTests",
            dependencies: [
                "LazyImages", "Coalescing", "Hashing", "SystemSupport", "TestSupport", "TestTraits",
                "TestNames",
                "CMarqueeSystem",
            ],
            swiftSettings: swiftSettings,
            linkerSettings: ownNames),
        // A module of its own: the address sanitizer runs it, and not the other tests of LazyImages.
        .testTarget(
            name: "MixedLoadsTests",
            dependencies: ["LazyImages", "ImageCodecs", "SystemSupport", "TestSupport", "TestTraits"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "BackgroundTransfersTests",
            dependencies: [
                "BackgroundTransfers", "LazyImages", "SystemSupport", "TestSupport", "TestTraits",
            ],
            swiftSettings: swiftSettings),
        .executableTarget(
            name: "LibraryProbe",
            dependencies: ["Films", "FilmSources"],
            path: "Tests/LibraryProbe",
            swiftSettings: swiftSettings),
        .testTarget(
            name: "FilmsTests",
            dependencies: [
                "Films", "FilmSources", "Hashing", "SystemSupport", "LibraryProbe", "TestSupport",
                "TestTraits",
            ],
            swiftSettings: swiftSettings),
        .executableTarget(
            name: "TerminalProbe",
            dependencies: ["TerminalGraphics"],
            path: "Tests/TerminalProbe",
            swiftSettings: swiftSettings),
        .testTarget(
            name: "TerminalGraphicsTests",
            dependencies: [
                "TerminalGraphics", "SystemSupport", "TerminalProbe", "TestSupport", "TestTraits",
                "CMarqueeSystem",
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "HTTPServerTests",
            dependencies: ["HTTPServer", "HTTPSemantics", "SystemSupport", "TestSupport", "TestTraits"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "ServiceOperationsTests",
            dependencies: [
                "ServiceOperations", "HTTPServer", "HTTPSemantics", "SystemSupport", "TestSupport",
                "TestTraits",
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "CatalogueServiceTests",
            dependencies: [
                "CatalogueService", "HTTPServer", "Films", "FilmSources", "SystemSupport", "HTTPSemantics",
                "PictureServer", "PictureService", "ServiceOperations", "LazyImages", "TestSupport",
                "TestTraits",
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "PictureServiceTests",
            dependencies: [
                "PictureService", "ImageCodecs", "LazyImages", "Hashing", "TestSupport", "TestTraits",
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "PictureServerTests",
            dependencies: [
                "PictureServer", "PictureService", "Coalescing", "HTTPSemantics", "HTTPServer", "ImageCodecs",
                "LazyImages",
                "Hashing", "SystemSupport", "TestSupport", "TestTraits", "TestNames",
            ],
            swiftSettings: swiftSettings,
            linkerSettings: ownNames),
        .testTarget(
            name: "marquee-benchTests",
            dependencies: ["marquee-bench", "SystemSupport", "TestTraits"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "marqueeTests",
            dependencies: [
                "marquee", "SystemSupport", "BackgroundTransfers", "Films", "FilmSources", "FilmBrowser",
                "LazyImages", "CatalogueService", "HTTPServer", "HTTPSemantics", "ImageCodecs",
                "PictureServer", "PictureService", "ServiceOperations", "CSample", "TestSupport",
                "TestTraits",
            ],
            exclude: ["SmallPosters"],
            swiftSettings: swiftSettings),
    ]
)

// Checks that run some tests build only those: MARQUEE_TEST_TARGETS="HTTPServerTests marqueeTests". Unset: all.
if let wanted = Context.environment["MARQUEE_TEST_TARGETS"]?.split(separator: " ").map(String.init) {
    package.targets.removeAll { $0.type == .test && !wanted.contains($0.name) }
}
