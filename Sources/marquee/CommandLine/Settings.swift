import FoundationEssentials
import Glibc
import LazyImages
import TerminalGraphics

/// The settings from the command line and the environment, checked. Flags win over the environment, which wins over the
/// defaults.
struct Settings: Sendable {
    let catalogue: String?
    let cacheFolder: String
    let cacheLimit: Int
    /// The memory for decoded posters while browsing, in bytes.
    let memoryLimit: Int
    let usesDisk: Bool
    /// The store that machines share; nil for none.
    let shared: SharedStore?
    var isOffline: Bool
    /// The query items that cache keys leave out.
    let ignoredQuery: IgnoredQuery
    let fields: HeaderFields
    let wantsJSON: Bool
    let wantsChecksum: Bool
    let colourDepth: ColourDepth
    /// The size of a picture in cells that the user or another program asks for; nil for the command's own.
    let pictureSize: CellSize?
    /// How pictures are drawn. A program that asks the terminal uses this mode until the answer.
    let graphics: GraphicsMode
    /// Whether the terminal is asked how it draws pictures, because nothing else decides.
    let asksForGraphics: Bool
    var downloads = ImageDownloader.Configuration()
    var transport = CurlTransport.Configuration()

    init(_ arguments: Arguments, environment: [String: String]) throws(UsageError) {
        try Self.requireUTF8(environment)
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        catalogue = arguments.value("catalogue") ?? variable("MARQUEE_CATALOGUE")
        if let catalogue, catalogue.lowercased().hasSuffix(".db") {
            try CommandLineWords.requireUTF8(catalogue)
        }
        if catalogue?.isEmpty == true { throw UsageError("--catalogue needs a file or an address") }
        cacheFolder =
            arguments.value("cache-dir") ?? variable("MARQUEE_CACHE_DIR")
            ?? DiskCache.folder(named: "marquee")
        if cacheFolder.isEmpty { throw UsageError("--cache-dir needs a folder") }
        cacheLimit = try arguments.bytes("cache-size") ?? DiskCache.defaultLimit
        memoryLimit = try arguments.bytes("memory-size") ?? Self.standardMemoryLimit
        usesDisk = !arguments.has("no-disk-cache")
        isOffline = arguments.has("offline")
        ignoredQuery = IgnoredQuery(arguments.values("ignore-query"))
        wantsJSON = arguments.has("json")
        wantsChecksum = arguments.has("checksum")
        fields = try Self.fields(arguments.values("header"))

        pictureSize = try Self.pictureSize(arguments, environment)
        colourDepth = ColourDepth.decided(
            by: try Self.choice("color", arguments) ?? ColourChoice.auto, environment: environment,
            // A program that asks for a size in cells shows the output on a terminal.
            isTerminal: Output.isTerminal || pictureSize != nil)
        asksForGraphics = [nil, "auto"].contains(arguments.value("graphics"))
        let graphics =
            asksForGraphics
            ? .blocks : try Self.choice("graphics", arguments, besides: ["auto"]) ?? GraphicsMode.blocks
        self.graphics = graphics.isBlocks && Terminal.showsOnlyASCII(STDOUT_FILENO) ? .ascii : graphics

        downloads.userAgent = "Marquee/\(Marquee.version)"
        downloads.maximumBytes = try arguments.bytes("max-bytes") ?? downloads.maximumBytes
        downloads.transfers = try arguments.number("concurrency", in: 1...256) ?? downloads.transfers
        downloads.transfersPerHost =
            try arguments.number("per-host", in: 1...256) ?? downloads.transfersPerHost
        downloads.acceptsAnyContent = arguments.has("any-content") || arguments.value("output") == "-"
        downloads.acceptsAnyStatus = arguments.has("include")
        downloads.security = try Self.security(arguments)
        transport.proxy = try Self.proxy(arguments.value("proxy"))
        downloads.authenticator = try Self.credentials(arguments, variable("MARQUEE_CREDENTIALS"))
        shared = try SharedStore(arguments, environment, downloads.security)
        if let seconds = try arguments.seconds("timeout") {
            // The stall limit of every phase. A transfer that moves may take as long as --max-time allows.
            downloads.timeouts = Timeouts(
                connect: .seconds(seconds), firstByte: .seconds(seconds), stall: .seconds(seconds),
                total: max(downloads.timeouts.total, .seconds(seconds)))
        }
        if let seconds = try arguments.seconds("max-time") { downloads.timeouts.total = .seconds(seconds) }
    }

    /// Refuses variables that are not UTF-8: their wrong bytes are replaced, so they would name other folders.
    private static func requireUTF8(_ environment: [String: String]) throws(UsageError) {
        for name in Help.environment.map(\.name) + ["HOME"] {
            guard let text = unsafe getenv(name) else { continue }
            let bytes = unsafe UnsafeRawBufferPointer(start: text, count: strlen(text))
            if unsafe String(validating: bytes, as: UTF8.self) == nil {
                throw UsageError("\(name) is not UTF-8; set it to another name")
            }
        }
    }

    /// Enough for a thousand posters of a list in a large window.
    private static let standardMemoryLimit = 64 << 20

    /// The value of an option that takes one of several words.
    private static func choice<Choice: CaseIterable & RawRepresentable<String>>(
        _ name: String, _ arguments: Arguments, besides others: [String] = []
    ) throws(UsageError) -> Choice? {
        guard let text = arguments.value(name) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        let words = (others + Choice.allCases.map(\.rawValue)).joined(separator: ", ")
        throw UsageError("--\(name) needs one of \(words), not \"\(text)\"")
    }

    /// The size of `--size`, or of the preview window in which fzf runs the command.
    private static func pictureSize(
        _ arguments: Arguments, _ environment: [String: String]
    ) throws(UsageError) -> CellSize? {
        guard arguments.command.options.contains(where: { $0.name == Option.size.name }) else { return nil }
        guard let text = arguments.value(Option.size.name) else {
            if Output.isTerminal { return nil }
            let sides = ["FZF_PREVIEW_COLUMNS", "FZF_PREVIEW_LINES"].map { Int(environment[$0] ?? "") ?? 0 }
            guard sides.allSatisfy({ $0 > 0 }) else { return nil }
            // Leaves room for a free line and two lines of text.
            return CellSize(columns: min(sides[0], mostCells), rows: max(1, min(sides[1] - 3, mostCells)))
        }
        let sides = text.lowercased().split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard sides.count == 2, let columns = sides[0], let rows = sides[1],
            (1...mostCells).contains(columns), (1...mostCells).contains(rows)
        else {
            throw UsageError(
                "--size needs columns and rows such as 40x20, each from 1 to \(mostCells), not \"\(text)\"")
        }
        return CellSize(columns: columns, rows: rows)
    }

    /// The most columns or rows of a picture.
    private static let mostCells = 1000

    private static func fields(_ texts: [String]) throws(UsageError) -> HeaderFields {
        var fields = HeaderFields()
        for text in texts {
            guard let colon = text.firstIndex(of: ":") else {
                throw UsageError("--header needs 'Name: value', not \"\(text)\"")
            }
            let name = String(text[..<colon])
            let value = text[text.index(after: colon)...].drop { $0 == " " }
            if let fault = HeaderFields.fault(name: name, value: String(value)) {
                throw UsageError("--header: \(fault)")
            }
            fields.append(HeaderFields.Field(name: name, value: String(value)))
        }
        return fields
    }
}
