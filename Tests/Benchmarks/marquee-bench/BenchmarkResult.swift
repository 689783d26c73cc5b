import Foundation

/// One measured figure beside its reference.
struct BenchmarkResult: Encodable {
    let name: String
    let unit: String
    let ours: Double
    var reference: Double?
    var referenceName: String?
    /// Ours divided by the reference. For times, smaller is better.
    var ratio: Double?
    /// Whether a figure that must be at most, or exactly, the reference is so; nil for a figure that is only measured.
    var isMet: Bool?

    init(name: String, unit: String, ours: Double, reference: Double? = nil, referenceName: String? = nil) {
        self.name = name
        self.unit = unit
        self.ours = ours
        self.reference = reference
        self.referenceName = reference == nil ? nil : referenceName
        ratio = reference.map { ours / $0 }
    }

    /// A figure that fails beyond a limit.
    /// - Parameter limit: nil for none.
    init(name: String, unit: String, ours: Double, atMost limit: Double?) {
        self.init(name: name, unit: unit, ours: ours, reference: limit, referenceName: "at most")
        isMet = limit.map { ours <= $0 }
    }

    /// A figure that fails unless it is this one.
    init(name: String, unit: String, ours: Double, exactly wanted: Double) {
        self.init(name: name, unit: unit, ours: ours, reference: wanted, referenceName: "must be")
        isMet = ours == wanted
    }

    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        // Ignored: only numbers that are not finite cannot be encoded, and a ratio to zero is one.
        let data = (try? encoder.encode(self)) ?? Data("{}".utf8)
        return String(decoding: data, as: UTF8.self)
    }

    var line: String {
        var text = "\(name): \(Self.text(ours)) \(unit)"
        if let reference, let referenceName, let ratio {
            text +=
                isMet == nil
                ? ", \(referenceName) \(Self.text(reference)) \(unit), ratio \(String(format: "%.2f", ratio))"
                : ", \(referenceName) \(Self.text(reference))"
        }
        return isMet == false ? "FAILED  " + text : text
    }

    private static func text(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e9
            ? String(Int(value)) : String(format: abs(value) < 10 ? "%.3f" : "%.1f", value)
    }
}

/// Runs ours and the reference in turn, so that both meet the same noise, and returns the medians in seconds. The first
/// round is a warm-up and does not count.
func alternating(
    runs: Int, ours: () async throws -> Void, reference: (() async throws -> Void)?
) async throws -> (ours: Double, reference: Double?) {
    var times: (ours: [Double], reference: [Double]) = ([], [])
    for round in 0...runs {
        let own = try await seconds(ours)
        if round > 0 { times.ours.append(own) }
        if let reference {
            let other = try await seconds(reference)
            if round > 0 { times.reference.append(other) }
        }
    }
    return (median(times.ours), reference == nil ? nil : median(times.reference))
}

func seconds(_ work: () async throws -> Void) async throws -> Double {
    let duration = try await ContinuousClock().measure(work)
    return Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
}

func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard let last = sorted.last else { return .nan }
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2)
        ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted.count == 1 ? last : sorted[middle]
}

/// The memory of a process.
enum PeakMemory {
    /// A line of a process's status (`VmHWM:     70000 kB`).
    static func kibibytes(_ field: String, of process: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        for line in status.split(separator: "\n") where line.hasPrefix(field + ":") {
            if let value = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) }) {
                return value
            }
        }
        throw BenchmarkFailure(description: "no \(field) in /proc/\(process)/status")
    }
}
