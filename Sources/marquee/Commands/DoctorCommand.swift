import BackgroundTransfers
import FilmSources
import Films
import FoundationEssentials
import SystemSupport
import LazyImages
import TerminalGraphics

/// `marquee doctor`: checks the program's surroundings, and says what to do.
enum DoctorCommand: Command {
    static let specification = CommandSpecification(
        name: "doctor",
        summary: "check the terminal, libraries, cache, catalogue and network",
        examples: [
            ("marquee doctor", "a line for each: ok, warning or problem"),
            ("marquee doctor --catalogue URL", "also check that catalogue"),
            ("marquee doctor --json", "one object, for a report"),
        ],
        notes: ["The exit status is 1 if there is a problem; warnings do not count."],
        worksWithoutFile: true)

    static func run(_ session: Session) async throws -> ExitStatus {
        let quiet = session.silent()
        var findings: [Finding] = []
        func report(_ found: [Finding]) {
            findings += found
            guard !session.settings.wantsJSON else { return }
            for finding in found { session.output.line(finding.line) }
            session.output.flush()
        }
        report([configuration(session.arguments)])
        report(await TerminalCheck.findings(quiet.settings))
        report([curl, sqlite(quiet.provider)])
        report(await CacheCheck.findings(quiet))
        report(await SharedStoreCheck.findings(quiet.settings.shared?.tier))
        report([pressure, network(), proxy(quiet.settings)])
        report(await CatalogueCheck.findings(quiet))
        if session.settings.wantsJSON { session.output.json(["findings": findings]) }
        return findings.contains { $0.level == .problem } ? .someFailed : .done
    }

    /// What is set where. Values are left out: they may be secret.
    private static func configuration(_ arguments: Arguments) -> Finding {
        if let problem = arguments.fileProblem { return Finding("settings", .problem, problem) }
        let environment = ProcessInfo.processInfo.environment
        let variables = Help.environment.map(\.name).filter { !(environment[$0] ?? "").isEmpty }
        let options = arguments.given.map {
            "\($0.name) by \(arguments.origins[$0.name] ?? "the command line")"
        }
        let path = ConfigurationFile.standardPath
        let file = FileKind(path) == nil ? "there is no file \(path)" : "file \(path)"
        let set = options + (variables.isEmpty ? [] : ["variables " + variables.joined(separator: ", ")])
        return Finding("settings", ([file] + set).joined(separator: "; "))
    }

    private static var curl: Finding { Finding("libcurl") { try CurlTransport.libraryVersion() } }

    /// A problem only for a library, which needs SQLite.
    private static func sqlite(_ films: any FilmProvider) -> Finding {
        Finding("sqlite", failing: films.abilities.isLibrary ? .problem : .warning) {
            "SQLite \(try FilmLibrary.engineVersion())"
        }
    }

    private static var pressure: Finding {
        Finding("memory", "the source of memory pressure is " + MemoryPressure.systemSource)
    }

    private static func network() -> Finding {
        let path = PathMonitor.currentPath()
        return path.reach == .none
            ? Finding(
                "network", .warning, "this machine has no network", advice: "connect it, or use --offline")
            : Finding("network", path.description)
    }

    private static func proxy(_ settings: Settings) -> Finding {
        switch settings.transport.proxy {
        case .url(let text): return Finding("proxy", URL(string: text)?.displayText ?? "set by --proxy")
        case .environment: return Finding("proxy", "set by http_proxy, https_proxy, all_proxy and no_proxy")
        case .none:
            let environment = ProcessInfo.processInfo.environment
            let names = ["https_proxy", "http_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"]
            guard let name = names.first(where: { !(environment[$0] ?? "").isEmpty }) else {
                return Finding("proxy", "none")
            }
            return Finding(
                "proxy", .warning, "none, although \(name) is set", advice: "use --proxy env if it is needed"
            )
        }
    }
}

/// The disk cache.
private enum CacheCheck {
    static func findings(_ session: Session) async -> [Finding] {
        guard let disk = session.disk else {
            return [Finding("cache", .warning, "no cache on disk (--no-disk-cache)")]
        }
        let report = await disk.forEachEntry { _ in }
        if let fault = disk.counters.lastFault ?? fault(ofWritingTo: disk.path) {
            return [Finding("cache", .problem, fault, advice: "choose another folder with --cache-dir")]
        }
        let used =
            "\(CacheCommand.entries(report.entries)), \(ByteCount.text(report.bytes)) of at most \(ByteCount.text(disk.limit))"
        let folder = Finding("cache", "\(disk.path): \(used)")
        guard let free = freeBytes(disk.path) else { return [folder] }
        let wanted = max(0, disk.limit - report.bytes)
        let text = "\(ByteCount.text(free)) are free on the cache's disk"
        return [
            folder,
            free >= wanted
                ? Finding("room", text)
                : Finding(
                    "room", .warning, text + ", and the cache may need \(ByteCount.text(wanted)) more",
                    advice: "make room, or set a lower --cache-size"),
        ]
    }

    /// Why the folder is not writable; nil if it is.
    private static func fault(ofWritingTo folder: String) -> String? {
        let probe = URL(filePath: folder).appending(path: ".marquee-doctor-\(getpid())")
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data([0]).write(to: probe)
            try FileManager.default.removeItem(at: probe)
            return nil
        } catch {
            return "\(folder): the folder is not writable"
        }
    }

    /// The bytes that this user may still write there; nil if the system does not tell.
    private static func freeBytes(_ path: String) -> Int? {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0 else { return nil }
        return Int(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
    }
}

/// The catalogue, and the credentials of servers.
private enum CatalogueCheck {
    static func findings(_ session: Session) async -> [Finding] {
        [await catalogue(session)] + (await server(session)) + (await credentials(session))
    }

    /// The server of a source, and the user's token for it.
    private static func server(_ session: Session) async -> [Finding] {
        guard let server = session.provider.server else { return [] }
        do {
            let name = try await session.withReader(reading: server.name) { try await server.check($0) }
            let hasToken = session.token(for: server) != nil
            return [Finding("server", "\(name) answers" + (hasToken ? ", and accepts the token" : ""))]
        } catch {
            return [Finding("server", .problem, ImageLoadingError.advised(error))]
        }
    }

    private static func catalogue(_ session: Session) async -> Finding {
        do {
            let films = try await session.catalogue().catalogue
            let text = "\(session.provider.name): \(films.movies.count) films"
            guard films.problems.isEmpty else {
                return Finding(
                    "catalogue", .warning, "\(text), and \(films.problems.count) are left out",
                    advice: "marquee list -v names them")
            }
            return Finding("catalogue", text)
        } catch {
            return Finding("catalogue", .problem, ImageLoadingError.advised(error))
        }
    }

    /// Tests the credentials of each server.
    private static func credentials(_ session: Session) async -> [Finding] {
        guard let named = session.settings.downloads.authenticator as? NamedCredentials else { return [] }
        let opened = session.makeAnswerLoader()
        var findings: [Finding] = []
        for host in named.hosts where !isOfSource(host, session) {
            findings.append(await credential(of: host, opened.loader, session))
        }
        await opened.close()
        return findings
    }

    /// Whether the credential is for the source's server, which `server` has checked.
    private static func isOfSource(_ host: String, _ session: Session) -> Bool {
        guard let server = session.provider.server?.address, let name = server.host() else { return false }
        return host == name || host == server.port.map { "\(name):\($0)" }
    }

    private static func credential(of host: String, _ loader: FileLoader, _ session: Session) async -> Finding
    {
        let name = host.prefix { $0 != ":" }
        let isPlain =
            ["localhost", "127.0.0.1"].contains(name)
            || session.arguments.values("insecure-http").contains(String(name))
        do throws(ImageLoadingError) {
            let request = try session.request(
                for: "\(isPlain ? "http" : "https")://\(host)/", relativeTo: nil)
            let status = try await loader.file(for: request).head?.status ?? 200
            return status == 401 || status == 403
                ? Finding(
                    "credentials", .problem, "\(host) refuses them with status \(status)",
                    advice: "check the user, the password or the token")
                : Finding("credentials", "\(host) accepts them, or asks for none on its first page")
        } catch {
            return Finding("credentials", .warning, "cannot test them at \(host): \(error.advised)")
        }
    }
}

/// One result of `marquee doctor`.
struct Finding: Encodable, Equatable {
    enum Level: String, Encodable { case ok, warning, problem }

    /// The checked part: `terminal`, `cache`, ...
    let name: String
    let level: Level
    /// Its state, in one line.
    let text: String
    /// What to do; nil if nothing needs to be done.
    let advice: String?

    /// All is well.
    init(_ name: String, _ text: String) { self.init(name, .ok, text, advice: nil) }

    init(_ name: String, _ level: Level, _ text: String, advice: String? = nil) {
        (self.name, self.level, self.text, self.advice) = (name, level, text, advice)
    }

    /// All is well with the text of `body`, unless it fails.
    init(_ name: String, failing level: Level = .problem, _ body: () throws -> String) {
        do { self.init(name, try body()) } catch { self.init(name, level, "\(error)") }
    }

    /// `warning  cache     1 GiB free, ...; make room`
    var line: String {
        TerminalText.padded(level.rawValue, toWidth: 9) + TerminalText.padded(name, toWidth: 12) + text
            + (advice.map { "; " + $0 } ?? "")
    }
}

/// Checks the store of `--shared`: writes a value, reads it and removes it. A read-only store is only read.
enum SharedStoreCheck {
    /// - Parameter tier: a new tier; nil for none.
    static func findings(_ tier: SharedTier?) async -> [Finding] {
        guard let tier else { return [] }
        let name = tier.address.displayText
        func warning(_ text: String, _ advice: String) -> [Finding] {
            [Finding("shared", .warning, "\(name) \(text)", advice: advice)]
        }
        let key = CacheKey(id: "marquee doctor " + UUID().uuidString)
        _ = await tier.entry(for: key)
        guard tier.traffic.failures == 0 else {
            return warning(
                "does not answer like a store within a second: \(tier.traffic.readFault ?? "")",
                "check the address and the password, and whether the store runs")
        }
        if tier.isReadOnly { return [Finding("shared", "\(name) answers; read-only")] }
        tier.store(ByteArray(Array(name.utf8)), metadata: [], for: key)
        await tier.flush()
        guard tier.traffic.writes == 1 else {
            return warning(
                "does not accept values: \(tier.traffic.writeFault ?? "")",
                "make the bucket, and allow PUT with this password or key; for a server that creates no folders, use a URL whose path ends in /ac"
            )
        }
        _ = await tier.entry(for: key)
        guard tier.traffic.hits == 1 else {
            return warning("does not return the value just written", "look for a cache in front of the store")
        }
        tier.remove(key)
        await tier.flush()
        guard tier.traffic.removals == 1 else {
            return warning(
                "does not remove values: \(tier.traffic.writeFault ?? "")",
                "allow DELETE; until then, purged pictures stay in it")
        }
        return [Finding("shared", "\(name) writes, reads and removes values")]
    }
}

/// The terminal's answers, and what follows from them.
enum TerminalCheck {
    static func findings(_ settings: Settings) async -> [Finding] {
        let term = ProcessInfo.processInfo.environment["TERM"] ?? ""
        guard isatty(STDIN_FILENO) == 1, !term.isEmpty else {
            return [Finding("terminal", "none; marquee lists films and draws no pictures")]
        }
        guard term != "dumb" else {
            return [
                Finding("terminal", .warning, "TERM is dumb", advice: "set TERM to the terminal's type")
            ]
        }
        let answers = await TerminalInquiry.answers(isInTmux: Terminal.isInTmux, limit: Terminal.answerLimit)
        return findings(answers ?? TerminalAnswers(), settings, isInTmux: Terminal.isInTmux)
    }

    static func findings(_ answers: TerminalAnswers, _ settings: Settings, isInTmux: Bool) -> [Finding] {
        let name = [answers.name, answers.version.map(String.init).joined(separator: ".")]
            .compactMap { $0?.isEmpty == true ? nil : $0 }.joined(separator: " ")
        var findings: [Finding] = []
        let called = TerminalText.visible(name.isEmpty ? "an unnamed terminal" : name)
        if answers.isComplete || isInTmux {
            findings.append(Finding("terminal", isInTmux && name.isEmpty ? "tmux" : called))
        } else {
            findings.append(
                Finding(
                    "terminal", .warning, "it did not answer in time",
                    advice: "choose a protocol with --graphics if pictures are coarse"))
        }
        let mode = answers.graphics
        let depth = answers.showsTrueColour ? ColourDepth.trueColour : settings.colourDepth
        let cell = answers.cell.map { ", cells of \($0.width)x\($0.height) pixels" } ?? ""
        findings.append(
            Finding("pictures", (mode.map { "in pixels, by \($0.rawValue)" } ?? "in block characters") + cell)
        )
        findings.append(colours(depth))
        if isInTmux, mode == nil, !answers.isComplete {
            findings.append(
                Finding(
                    "tmux", .warning, "it passes no pictures through to the terminal",
                    advice: "add this to ~/.tmux.conf: set -g allow-passthrough on"))
        }
        return findings
    }

    private static func colours(_ depth: ColourDepth) -> Finding {
        switch depth {
        case .trueColour: Finding("colours", "24 bits")
        case .indexed256:
            Finding(
                "colours", .warning, "256", advice: "set COLORTERM=truecolor if the terminal has more")
        case .ansi16:
            Finding("colours", .warning, "16", advice: "set TERM=xterm-256color if the terminal has more")
        case .none: Finding("colours", "none (because of --color, NO_COLOR or TERM)")
        }
    }
}
