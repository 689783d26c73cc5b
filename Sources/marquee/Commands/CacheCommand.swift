import LazyImages
import SystemSupport

/// `marquee cache`: shows and cleans the disk tier. Every action is safe while another marquee runs.
enum CacheCommand: Command {
    static let specification = CommandSpecification(
        name: "cache", operands: "info|verify|trim|clear|path", operandCount: 1...1,
        summary: "look after the cache: info, verify, trim, clear, path",
        examples: [
            ("marquee cache info", "its size, and the hosts of its entries"),
            ("marquee cache verify", "read all entries and remove broken ones"),
            ("marquee cache trim --to 100M", "remove the least recently used entries"),
            ("marquee cache clear --host example.org", "remove the entries of one host"),
            ("marquee cache clear --dry-run", "only say what would be removed"),
        ],
        options: [
            Option(name: "to", value: "BYTES", help: "trim: the bytes to keep"),
            Option(name: "host", value: "HOST", help: "clear: only the entries of this host"),
        ] + Confirmation.options,
        notes: ["clear asks first. Without a terminal it needs --yes."])

    static func run(_ session: Session) async throws -> ExitStatus {
        guard let disk = session.disk else {
            throw UsageError("cache needs the disk cache: leave out --no-disk-cache")
        }
        let action = session.arguments.operands[0]
        for option in specification.options where session.arguments.has(option.name) {
            let owner = option.name == "to" ? "trim" : "clear"
            if action != owner { throw UsageError("--\(option.name) works only with cache \(owner)") }
        }
        switch action {
        case "path": session.print(["path": disk.path], orLine: disk.path)
        case "info": await info(disk, session)
        case "verify":
            let report = await disk.verify()
            show(report, session, verb: "removed as wrong")
            let hasFaults = session.reportFaults()
            return report.removedEntries == 0 && !hasFaults ? .done : .someFailed
        case "clear":
            let host = session.arguments.value("host")?.lowercased()
            if let status = try await statusWithoutClearing(disk, host, session) { return status }
            let report = await disk.removeAll { host == nil || CacheKey.host(ofURL: $0.url[...]) == host }
            if host == nil {
                // The partial bodies of interrupted downloads belong to the cache too.
                await BlockingThreads.runOnOwnThread {
                    guard let path = PartialStore.path(besides: disk) else { return }
                    PartialStore(path: path, limit: .max).removeAll()
                }
            }
            show(report, session, verb: "removed")
        case "trim":
            guard let target = try session.arguments.bytes("to") else {
                throw UsageError("trim needs --to BYTES, such as --to 100M")
            }
            show(await disk.trim(to: target), session, verb: "removed")
        default: throw UsageError("unknown action \"\(action)\"; use info, verify, trim, clear or path")
        }
        return session.reportFaults() ? .someFailed : .done
    }

    /// The status of a command that removes nothing: a `--dry-run`, or the person says no. Nil to go on.
    private static func statusWithoutClearing(
        _ disk: DiskCache, _ host: String?, _ session: Session
    ) async throws -> ExitStatus? {
        let isRehearsal = session.arguments.has("dry-run")
        if try Confirmation.isNeedless(session.arguments, for: "cache clear"), !isRehearsal { return nil }
        let found = Lock((entries: 0, bytes: 0))
        _ = await disk.forEachEntry { entry in
            guard host == nil || CacheKey.host(ofURL: entry.url[...]) == host else { return }
            found.withLock { ($0.entries, $0.bytes) = ($0.entries + 1, $0.bytes + entry.bytes) }
        }
        let (entries, bytes) = found.withLock { $0 }
        let place = host.map { "of \($0)" } ?? "from \(disk.path)"
        let what = "\(Self.entries(entries)) (\(ByteCount.text(bytes))) \(place)"
        if isRehearsal {
            session.output.line("would remove " + what)
            return session.reportFaults() ? .someFailed : .done
        }
        if entries == 0 { return nil }
        return try await Confirmation.isGiven("remove \(what)?", session.output) ? nil : .nothingDone
    }

    /// `1 entry`, `2 entries`.
    static func entries(_ count: Int) -> String { count == 1 ? "1 entry" : "\(count) entries" }

    private static func info(_ disk: DiskCache, _ session: Session) async {
        let found = Lock<[String: HostRecord]>([:])
        let report = await disk.forEachEntry { entry in
            let name = CacheKey.host(ofURL: entry.url[...])
            found.withLock {
                $0[name, default: HostRecord(host: name)].entries += 1
                $0[name]?.bytes += entry.bytes
            }
        }
        let totals = await disk.totals()
        let record = InfoRecord(
            path: disk.path, entries: report.entries, bytes: report.bytes, limit: disk.limit,
            newerEntries: report.newerEntries, hits: totals.hits, misses: totals.misses,
            corrupt: totals.corrupt, faults: disk.counters.faults,
            hosts: found.withLock(\.values).sorted { ($0.bytes, $1.host) > ($1.bytes, $0.host) })
        if session.settings.wantsJSON {
            session.output.json(record)
            return
        }
        session.output.line(record.path)
        session.output.line(
            "\(entries(record.entries)), \(ByteCount.text(record.bytes)) of at most \(ByteCount.text(record.limit))"
                + record.hitRateText)
        for host in record.hosts {
            let name = host.host.isEmpty ? "(no host)" : host.host
            session.output.line("  \(name): \(entries(host.entries)), \(ByteCount.text(host.bytes))")
        }
    }

    private static func show(_ report: DiskCache.ScanReport, _ session: Session, verb: String) {
        session.print(
            [
                "entries": report.entries, "bytes": report.bytes,
                "removedEntries": report.removedEntries, "removedBytes": report.removedBytes,
            ],
            orLine:
                "\(entries(report.entries)), \(ByteCount.text(report.bytes)); \(report.removedEntries) \(verb), "
                + ByteCount.text(report.removedBytes))
    }
}

/// The cached files of a host.
struct HostRecord: Encodable {
    let host: String
    var entries = 0
    var bytes = 0
}

struct InfoRecord: Encodable {
    let path: String
    let entries: Int
    let bytes: Int
    let limit: Int
    let newerEntries: Int
    let hits: Int
    let misses: Int
    let corrupt: Int
    /// The faults during this command.
    let faults: Int
    let hosts: [HostRecord]

    /// `; 64 % of 56 lookups hit`; empty without lookups.
    fileprivate var hitRateText: String {
        let lookups = hits + misses
        if lookups == 0 { return "" }
        return "; \(Int((Double(hits) / Double(lookups) * 100).rounded())) % of \(lookups) lookups hit"
    }
}
