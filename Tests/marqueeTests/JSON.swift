import Foundation
import Testing

/// Parses JSON output as an independent program does.
enum JSON {
    /// One object.
    static func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    /// An array of objects.
    static func array(_ text: String) throws -> [[String: Any]] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]], "\(text)")
    }

    /// One object per line.
    static func lines(_ outcome: Program.Outcome) throws -> [[String: Any]] { try outcome.lines.map(object) }
}
