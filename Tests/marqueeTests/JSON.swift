import Foundation
import Testing

/// JSON as a program that reads ours would see it.
enum JSON {
    /// One object.
    static func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    /// An array of objects.
    static func array(_ text: String) throws -> [[String: Any]] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]], "\(text)")
    }

    /// An object a line.
    static func lines(_ outcome: Program.Outcome) throws -> [[String: Any]] { try outcome.lines.map(object) }
}
