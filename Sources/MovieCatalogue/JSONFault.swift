import Foundation

/// Where JSON breaks the grammar. The decoder of FoundationEssentials only says that it does; `JSONSerialization`
/// tells the place too, as text: "Invalid value around character 17."
enum JSONFault {
    private static let place = " around character "

    /// The error for data that the decoder refused.
    static func find(in data: Data) -> CatalogueError {
        do {
            _ = try JSONSerialization.jsonObject(with: data)
        } catch let error as NSError {
            guard let text = error.userInfo[NSDebugDescriptionErrorKey] as? String else {
                return .malformedJSON(reason: "it breaks the grammar", line: nil)
            }
            let parts = text.components(separatedBy: place)
            let offset = parts.count == 2 ? Int(parts[1].prefix { $0.isNumber }) : nil
            let before = data.prefix(offset ?? data.count)
            return .malformedJSON(
                reason: parts[0].trimmingCharacters(in: .punctuationCharacters),
                line: before.count { $0 == UInt8(ascii: "\n") } + 1)
        }
        return .malformedJSON(reason: "it breaks the grammar", line: nil)
    }
}
