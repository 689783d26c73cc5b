import FoundationEssentials
import LazyImages
import TerminalGraphics

/// How many entries there are of each size or age. A part holds the entries from the part before it up to its own
/// limit.
struct EntryHistogram: Encodable {
    struct Part: Encodable {
        enum CodingKeys: CodingKey { case upTo, entries, bytes }

        /// In bytes or seconds; nil for the last part, which has no end.
        let upTo: Int?
        /// The part in words. Not in JSON.
        let label: String
        var entries = 0
        var bytes = 0
    }

    /// In bytes.
    static let sizes = EntryHistogram(
        [16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20].map { ($0, "up to " + ByteCount.text($0)) },
        rest: "larger")
    /// In seconds since the last use.
    static let ages = EntryHistogram(
        [
            (3_600, "within an hour"), (86_400, "within a day"), (7 * 86_400, "within a week"),
            (30 * 86_400, "within 30 days"), (365 * 86_400, "within a year"),
        ], rest: "longer ago")

    private(set) var parts: [Part]

    private init(_ limits: [(upTo: Int, label: String)], rest: String) {
        parts = limits.map { Part(upTo: $0.upTo, label: $0.label) } + [Part(upTo: nil, label: rest)]
    }

    mutating func add(_ value: Int, bytes: Int) {
        let index = parts.firstIndex { $0.upTo.map { value <= $0 } ?? true } ?? parts.count - 1
        parts[index].entries += 1
        parts[index].bytes += bytes
    }

    func encode(to encoder: any Encoder) throws { try parts.encode(to: encoder) }
}

/// The look-ups of one day (UTC).
struct DayRecord: Encodable, LookupCounts {
    /// `2026-11-23`.
    let day: String
    let hits: Int
    let misses: Int

    /// - Parameter number: days since 1970.
    init(number: Int, _ lookups: DayLookups) {
        day = Date(timeIntervalSince1970: Double(number) * 86_400).formatted(.iso8601.year().month().day())
        (hits, misses) = (lookups.hits, lookups.misses)
    }
}

/// Rows of text with a bar of block characters each:
///
///     up to 16 KiB    9  ████████████████████████
///     up to 64 KiB    3  ████████
struct BarChart {
    /// The longest bar, in cells.
    private static let width = 24
    private static let eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

    private var rows: [(label: String, value: String, share: Double)] = []

    /// - Parameter share: the bar's part of the longest one, 0 to 1.
    mutating func add(_ label: String, _ value: String, share: Double) { rows.append((label, value, share)) }

    /// A chart of a histogram's entries. The largest part has the longest bar.
    init(_ histogram: EntryHistogram) {
        let most = histogram.parts.map(\.entries).max() ?? 0
        for part in histogram.parts {
            let share = most == 0 ? 0 : Double(part.entries) / Double(most)
            add(part.label, "\(part.entries)", share: share)
        }
    }

    /// A chart of the hit rates of days; a full bar is 100 %.
    init(_ days: [DayRecord]) {
        for day in days {
            add(day.day, "\(day.hits) of \(day.hits + day.misses) hit", share: day.hitRate ?? 0)
        }
    }

    var lines: [String] {
        let labels = rows.map { TerminalText.width($0.label) }.max() ?? 0
        let values = rows.map { TerminalText.width($0.value) }.max() ?? 0
        return rows.map { label, value, share in
            let cells = Int((share * Double(Self.width * 8)).rounded(.up))
            let bar = String(repeating: "█", count: cells / 8) + Self.eighths[cells % 8]
            let name = TerminalText.padded(label, toWidth: labels)
            let number = TerminalText.padded(value, toWidth: values, alignment: .trailing)
            return "  \(name)  \(number)" + (bar.isEmpty ? "" : "  " + bar)
        }
    }
}
