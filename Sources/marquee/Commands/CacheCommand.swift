import LazyImages
import SystemSupport

/// `marquee cache`: looks after the disk tier. Every action is safe while another marquee runs.
enum CacheCommand: Command {
    static let specification = CommandSpecification(
        name: "cache", operands: "info|verify|trim|clear|path", operandCount: 1...1,
        summary: "look after the cache: info, verify, trim, clear, path",
        examples: [
            ("marquee cache info", "how much there is, and from where"),
            ("marquee cache verify", "read everything and remove what is wrong"),
            ("marquee cache trim --to 100M", "remove what was not used for longest"),
            ("marquee cache clear --host example.org", "remove what came from one host"),
        ],
        options: [
            Option(name: "to", value: "BYTES", help: "trim: how much may stay"),
            Option(name: "host", value: "HOST", help: "clear: only what came from this host"),
        ])

    static func run(_ session: Session) async throws -> ExitStatus {
        guard let disk = session.disk else {
            throw UsageError("cache looks after the disk cache: leave out --no-disk-cache")
        }
        let action = session.arguments.operands[0]
        if session.arguments.has("to"), action != "trim" {
            throw UsageError("--to belongs to marquee cache trim")
        }
        if session.arguments.has("host"), action != "clear" {
            throw UsageError("--host belongs to marquee cache clear")
        }
        switch action {
        case "path":
            if session.settings.wantsJSON {
                session.output.json(PathRecord(path: disk.path))
            } else {
                session.output.line(disk.path)
            }
        case "info": await info(disk, session)
        case "verify":
            let report = await disk.verify()
            show(report, session, verb: "removed as wrong")
            let hasFaults = session.reportFaults()
            return report.removedEntries == 0 && !hasFaults ? .done : .someFailed
        case "clear":
            let host = session.arguments.value("host")?.lowercased()
            let report = await disk.removeAll { host == nil || CacheHost.name(ofURL: $0.url) == host }
            if host == nil { await removeParts(besides: disk) }
            show(report, session, verb: "removed")
        case "trim":
            guard let target = try session.arguments.bytes("to") else {
                throw UsageError("trim wants --to BYTES, such as --to 100M")
            }
            show(await disk.trim(to: target), session, verb: "removed")
        default: throw UsageError("cache knows info, verify, trim, clear and path, not \"\(action)\"")
        }
        return session.reportFaults() ? .someFailed : .done
    }

    /// What there is of broken downloads belongs to the cache too.
    private static func removeParts(besides disk: DiskCache) async {
        await BlockingThreads.runInAnyCase {
            PartialStore(path: PartialStore.path(besides: disk), limit: .max).removeAll()
        }
    }

    private static func info(_ disk: DiskCache, _ session: Session) async {
        let hosts = Lock<[String: HostRecord]>([:])
        let report = await disk.forEachEntry { entry in
            let name = CacheHost.name(ofURL: entry.url)
            hosts.withLock { $0[name, default: HostRecord(host: name)].add(entry.bytes) }
        }
        for (host, served) in await disk.statistics() {
            hosts.withLock { $0[host, default: HostRecord(host: host)].add(served) }
        }
        let ordered = hosts.withLock { $0.values.sorted { ($0.bytes, $1.host) > ($1.bytes, $0.host) } }
        let counters = disk.counters
        let record = InfoRecord(
            path: disk.path, entries: report.entries, bytes: report.bytes, limit: disk.limit,
            newerEntries: report.newerEntries, faults: counters.faults, hosts: ordered)
        if session.settings.wantsJSON {
            session.output.json(record)
            return
        }
        session.output.line(record.path)
        session.output.line(
            "\(record.entries) entries, \(ByteCount.text(record.bytes)) of at most \(ByteCount.text(record.limit))"
                + record.hitRateText)
        for host in ordered {
            let name = host.host.isEmpty ? "(no host)" : host.host
            session.output.line(
                "  \(name): \(host.entries) entries, \(ByteCount.text(host.bytes))\(host.hitRateText)")
        }
    }

    private static func show(_ report: DiskCache.ScanReport, _ session: Session, verb: String) {
        if session.settings.wantsJSON {
            session.output.json(ScanRecord(report))
        } else {
            session.output.line(
                "\(report.entries) entries, \(ByteCount.text(report.bytes)); \(report.removedEntries) \(verb), "
                    + ByteCount.text(report.removedBytes))
        }
    }
}

/// Whose entry it is, for counting and clearing.
enum CacheHost {
    /// The host in an address, lower case, without user and port.
    static func name(ofURL url: String) -> String {
        guard let start = url.firstRange(of: "://") else { return "" }
        let authority = url[start.upperBound...].prefix { !"/?#".contains($0) }
        let place = authority.split(separator: "@").last ?? ""
        if place.hasPrefix("["), let end = place.firstIndex(of: "]") {
            return String(place[...end]).lowercased()
        }
        return String(place.prefix { $0 != ":" }).lowercased()
    }
}

/// How often a lookup found what it wanted, in all processes so far.
private protocol Served {
    var hits: Int { get }
    var misses: Int { get }
}

extension Served {
    /// From 0 to 1; nil where nothing was looked for.
    var hitRate: Double? { hits + misses == 0 ? nil : Double(hits) / Double(hits + misses) }

    var hitRateText: String {
        hitRate.map { "; \(Int(($0 * 100).rounded())) % of \(hits + misses) lookups hit" } ?? ""
    }
}

private struct HostRecord: Encodable, Served {
    let host: String
    var entries = 0
    var bytes = 0
    var hits = 0
    var misses = 0
    var stores = 0
    var corrupt = 0

    mutating func add(_ count: Int) {
        entries += 1
        bytes += count
    }

    mutating func add(_ served: HostStatistics) {
        hits += served.hits
        misses += served.misses
        stores += served.stores
        corrupt += served.corrupt
    }
}

private struct InfoRecord: Encodable, Served {
    let path: String
    let entries: Int
    let bytes: Int
    let limit: Int
    let newerEntries: Int
    let hits: Int
    let misses: Int
    let corrupt: Int
    /// Of this look alone.
    let faults: Int
    let hosts: [HostRecord]

    init(
        path: String, entries: Int, bytes: Int, limit: Int, newerEntries: Int, faults: Int,
        hosts: [HostRecord]
    ) {
        (self.path, self.entries, self.bytes, self.limit) = (path, entries, bytes, limit)
        (self.newerEntries, self.faults, self.hosts) = (newerEntries, faults, hosts)
        hits = hosts.reduce(0) { $0 + $1.hits }
        misses = hosts.reduce(0) { $0 + $1.misses }
        corrupt = hosts.reduce(0) { $0 + $1.corrupt }
    }
}

private struct PathRecord: Encodable {
    let path: String
}

private struct ScanRecord: Encodable {
    let entries: Int
    let bytes: Int
    let removedEntries: Int
    let removedBytes: Int

    init(_ report: DiskCache.ScanReport) {
        (entries, bytes) = (report.entries, report.bytes)
        (removedEntries, removedBytes) = (report.removedEntries, report.removedBytes)
    }
}
