import HTTPSemantics
import ImageCodecs

extension SourceRecord {
    private static let title = "marquee source 2"
    private static let end = "end"
    private static let control = "cache-control: "

    /// The record in its stored form.
    package var text: String {
        let lines =
            [
                Self.title, "content \(content)",
                "file \(byteCount) \(format.name) \(size.width) \(size.height)",
                "answer \(received) \(initialAge) \(lifetime)",
            ] + control.map { Self.control + $0 }
        return lines.joined(separator: "\n") + "\n\(Self.end)\n"
    }

    /// Reads a stored record; nil if the text is not a whole record.
    package init?(_ text: String) {
        // Splits bytes: Swift takes a carriage return with a line feed for one character.
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { Substring($0) }
        guard lines.count >= 6, lines[0] == Self.title, lines[lines.count - 1].isEmpty,
            lines[lines.count - 2] == Self.end,
            let content = Self.words(of: lines[1], after: "content", count: 1),
            content[0].utf8.count == 64,
            content[0].utf8.allSatisfy({ $0.isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) }
            ),
            let file = Self.words(of: lines[2], after: "file", count: 4), let byteCount = Int(file[0]),
            let format = ImageDecoders.standard.format(named: String(file[1])),
            let width = Int(file[2]), let height = Int(file[3]), byteCount > 0, width > 0, height > 0,
            let answer = Self.words(of: lines[3], after: "answer", count: 3), let received = Int(answer[0]),
            let initialAge = Int(answer[1]), let lifetime = Int(answer[2])
        else { return nil }
        var control: [String] = []
        for line in lines[4..<(lines.count - 2)] {
            let value = String(line.dropFirst(Self.control.count))
            guard line.hasPrefix(Self.control),
                HeaderFields.fault(name: "cache-control", value: value) == nil
            else { return nil }
            control.append(value)
        }
        self.init(
            content: String(content[0]), byteCount: byteCount, format: format,
            size: ImageSize(width: width, height: height), control: control, received: received,
            initialAge: initialAge, lifetime: lifetime)
    }

    private static func words(of line: Substring, after name: String, count: Int) -> [Substring]? {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        return words.count == count + 1 && words[0] == name ? Array(words.dropFirst()) : nil
    }
}
