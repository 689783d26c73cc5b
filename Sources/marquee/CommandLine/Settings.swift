import BackgroundTransfers
import FoundationEssentials
import SystemSupport
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
    private(set) var decoding = DecodingLimits.standard

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
            by: try arguments.choice("color") ?? ColourChoice.auto, environment: environment,
            // A program that asks for a size in cells shows the output on a terminal.
            isTerminal: Output.isTerminal || pictureSize != nil)
        asksForGraphics = [nil, "auto"].contains(arguments.value("graphics"))
        let graphics =
            asksForGraphics
            ? .blocks : try arguments.choice("graphics") ?? GraphicsMode.blocks
        self.graphics = graphics.isBlocks && Terminal.showsOnlyASCII(STDOUT_FILENO) ? .ascii : graphics

        downloads.userAgent = "Marquee/\(Marquee.version)"
        downloads.maximumBytes = try arguments.bytes("max-bytes") ?? downloads.maximumBytes
        decoding.pixels = try arguments.number("max-pixels", in: 1...(1 << 40)) ?? decoding.pixels
        decoding.memory = try arguments.bytes("decode-memory") ?? decoding.memory
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

    /// The size of `--size`, or of the preview window in which fzf runs the command.
    private static func pictureSize(
        _ arguments: Arguments, _ environment: [String: String]
    ) throws(UsageError) -> CellSize? {
        guard arguments.command.options.contains(where: { $0.name == Option.size.name }) else { return nil }
        guard let text = arguments.value(Option.size.name) else {
            let isPreview = ["FZF_PREVIEW_COLUMNS", "FZF_PREVIEW_LINES"].allSatisfy {
                Int(environment[$0] ?? "") ?? 0 > 0
            }
            return isPreview && !Output.isTerminal ? pipeRoom : nil
        }
        let sides = text.lowercased().split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        // Columns alone: as many rows as the picture needs.
        guard sides.count <= 2, let columns = sides[0], let rows = sides.count == 1 ? mostCells : sides[1],
            (1...mostCells).contains(columns), (1...mostCells).contains(rows)
        else {
            throw UsageError(
                "--size needs columns, or columns and rows, such as 40 or 40x20, each from 1 to \(mostCells), not \"\(text)\""
            )
        }
        return CellSize(columns: columns, rows: rows)
    }

    /// The largest picture where no terminal tells its size, in cells. Leaves a free line and two lines of text.
    static var pipeRoom: CellSize {
        CellSize(columns: Terminal.columns ?? 60, rows: Terminal.lines.map { max(1, $0 - 3) } ?? 30)
    }

    /// The most columns or rows of a picture.
    static let mostCells = 1000

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

extension Settings {
    /// The servers that may be connected to, and how they are authenticated.
    static func security(_ arguments: Arguments) throws(UsageError) -> SecurityPolicy {
        var policy = SecurityPolicy(insecureHosts: try hosts(arguments.values("insecure-http")))
        policy.certificateAuthorityFile = try arguments.value("cacert").map { file throws(UsageError) in
            try existing(file, of: "cacert")
        }
        for (host, text) in try byHost("trust", "FILE or HOST=sha256//KEY", arguments) {
            policy.trusted[host] = try trust(text)
        }
        for (host, text) in try byHost("min-tls", "1.2 or HOST=1.3", arguments) {
            let versions = ["1.2": SecurityPolicy.TLSVersion.v1_2, "1.3": .v1_3]
            guard let version = versions[text] else {
                throw UsageError("--min-tls needs HOST=1.2 or HOST=1.3, not \"\(host)=\(text)\"")
            }
            policy.exceptions[host, default: SecurityPolicy.HostException()].minimumTLSVersion = version
        }
        for (host, file) in try byHost("cert", "FILE", arguments) {
            policy.clientCertificates[host] = SecurityPolicy.ClientCertificate(
                certificateFile: try existing(file, of: "cert"))
        }
        for (host, file) in try byHost("key", "FILE", arguments) {
            guard policy.clientCertificates[host] != nil else {
                throw UsageError("--key \(host)=\(file) has no certificate; name it with --cert \(host)=FILE")
            }
            policy.clientCertificates[host]?.keyFile = try existing(file, of: "key")
        }
        return policy
    }

    /// The values of an option for single hosts: `HOST=VALUE`, the host in lower case.
    private static func byHost(
        _ option: String, _ value: String, _ arguments: Arguments
    ) throws(UsageError) -> [(host: String, value: String)] {
        try arguments.values(option).map { text throws(UsageError) in
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
                throw UsageError("--\(option) needs HOST=\(value), not \"\(text)\"")
            }
            return (parts[0].lowercased(), String(parts[1]))
        }
    }

    /// The credentials for servers that ask. Those of the file come before those of the environment.
    static func credentials(_ arguments: Arguments, _ variable: String?) throws(UsageError)
        -> NamedCredentials?
    {
        let named = try variable.map { text throws(UsageError) in try NamedCredentials(text) }
        guard let path = arguments.value("credentials-file") else { return named }
        let own = try NamedCredentials(file: path)
        return named.map { own.adding($0) } ?? own
    }

    /// The proxy of `--proxy`: none, the environment's, or a URL.
    static func proxy(_ text: String?) throws(UsageError) -> CurlTransport.Proxy {
        switch text {
        case nil, "none": return .none
        case "env": return .environment
        case let text?:
            let url = URL(string: text)
            let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
            guard let url, schemes.contains(url.scheme?.lowercased() ?? ""), url.host()?.isEmpty == false
            else {
                throw UsageError(
                    "--proxy needs env, none or a URL such as http://proxy:3128, not \"\(text)\"")
            }
            return .url(text)
        }
    }

    /// A certificate's file, or a key's digest in curl's form.
    private static func trust(_ text: String) throws(UsageError) -> SecurityPolicy.ServerTrust {
        let prefix = "sha256//"
        guard text.hasPrefix(prefix) else { return .authorities(file: try existing(text, of: "trust")) }
        let digest = String(text.dropFirst(prefix.count))
        guard Data(base64Encoded: digest)?.count == 32 else {
            throw UsageError("--trust needs sha256// and 44 characters of base64, not \"\(text)\"")
        }
        return .publicKey(sha256: digest)
    }

    private static func existing(_ file: String, of option: String) throws(UsageError) -> String {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: file, isDirectory: &isFolder), !isFolder,
            FileManager.default.isReadableFile(atPath: file)
        else {
            throw UsageError("--\(option): \(file) cannot be read; name a file of PEM")
        }
        return file
    }

    /// Host names only. An address, a port or a pattern would never match, and the user would not know why.
    private static func hosts(_ texts: [String]) throws(UsageError) -> Set<String> {
        for text in texts where text.isEmpty || text.contains(where: { "/:@ *?#".contains($0) }) {
            let isAddress = text.hasPrefix("[") && text.hasSuffix("]")
            if !isAddress {
                throw UsageError(
                    "--insecure-http needs a host name such as example.org, not \"\(text)\"; name each host")
            }
        }
        return Set(texts)
    }
}

/// `--no-cellular`: refuses a mobile network, which may cost by the byte.
enum CellularRefusal {
    /// - Throws: if the internet is reached through a mobile network.
    static func check(_ path: NetworkPath = PathMonitor.currentPath()) throws(Failure) {
        guard path.link == .cellular else { return }
        throw Failure(
            "the network is cellular (\(path.interface ?? "?")), which --no-cellular refuses; use another network, or leave the option out",
            code: "cellular-refused")
    }
}

extension Option {
    static let noCellular = Option(
        name: "no-cellular", help: "refuse a mobile network; a job waits for another")
}
