package import TerminalGraphics

/// The colours of the browser. The person may set them in the configuration file, by name, by number in the terminal's
/// palette, or as sRGB:
///
///     color-found = bright-magenta
///     color-accent = #ffaf00
///     color-marks = 208
package struct BrowserColours: Sendable, Equatable {
    private enum Part: String, CaseIterable { case accent, found, marks, changed }

    /// The colours that the person has set.
    private var own: [Part: CellColour] = [:]
    /// Whether the terminal's background is light.
    package var isOnLight = false

    /// The colour of the selected film; nil for that of its poster.
    package var accent: CellColour? { own[.accent] }
    /// The text that the filter has found.
    var found: CellColour { own[.found] ?? .palette(isOnLight ? 5 : 3) }
    /// The signs of the person's marks.
    var marks: CellColour { own[.marks] ?? .palette(isOnLight ? 4 : 3) }
    /// Films that a refresh has added or changed.
    var changed: CellColour { own[.changed] ?? .palette(2) }
    /// The terminal's first eight colours; with `bright-` the next eight.
    private static let palette = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]

    /// The usual colours.
    package init() {}

    /// Sets a colour.
    /// - Throws: what is wrong, for people.
    package mutating func set(_ name: String, to text: String) throws(SettingError) {
        guard let colour = Self.colour(text.lowercased()) else {
            throw SettingError(
                "color-\(name) needs a colour such as red, bright-blue, 208 or #ffaf00, not \"\(text)\"")
        }
        guard let part = Part(rawValue: name) else {
            let all = Part.allCases.map { "color-\($0.rawValue)" }.joined(separator: ", ")
            throw SettingError("there is no color-\(name); there are \(all)")
        }
        own[part] = colour
    }

    private static func colour(_ text: String) -> CellColour? {
        if let number = UInt8(text) { return .palette(number) }
        if let index = palette.firstIndex(of: text) { return .palette(UInt8(index)) }
        if text.hasPrefix("bright-"), let index = palette.firstIndex(of: String(text.dropFirst(7))) {
            return .palette(UInt8(index + 8))
        }
        let digits = text.dropFirst()
        guard text.first == "#", digits.utf8.count == 6, digits.allSatisfy(\.isHexDigit),
            let number = UInt32(digits, radix: 16)
        else { return nil }
        return .rgb(
            UInt8(number >> 16), UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number))
    }
}
