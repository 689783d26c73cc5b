import HTTPSemantics

/// The plain text of HTML in a feed: without tags, scripts and styles, and with references resolved. It is meant to be
/// read, not to be put into HTML again.
package enum HTMLText {
    /// Elements within a line. All others separate words.
    private static let inline: Set<String> = [
        "a", "abbr", "acronym", "b", "big", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd",
        "mark",
        "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "tt", "u", "var", "wbr",
    ]
    /// Elements whose content is not shown.
    private static let hidden: Set<String> = ["script", "style"]

    /// The text of HTML. Damaged HTML gives some text; a tag without its end takes the rest with it.
    package static func plain(_ html: String) -> String {
        guard html.utf8.contains(where: { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") }) else {
            return html
        }
        let bytes = Array(html.utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var index = 0
        /// The element whose content is being left out.
        var open: String?
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "<"), let tag = Tag(bytes, at: index) {
                index = tag.end
                if let name = open {
                    if tag.isEnd, tag.name == name { open = nil }
                } else if hidden.contains(tag.name), !tag.isEnd {
                    open = tag.name
                }
                if !inline.contains(tag.name) { text.append(UInt8(ascii: " ")) }
            } else if open != nil {
                index += 1
            } else if byte == UInt8(ascii: "&"), let reference = Reference(bytes, at: index) {
                index = reference.end
                text += Array(String(reference.scalar).utf8)
            } else {
                text.append(byte)
                index += 1
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The text of an element with markup, such as XHTML: its own and its children's, in the order of the document.
    static func plain(_ element: XMLElement) -> String {
        if element.children.isEmpty { return element.text }
        let bytes = Array(element.text.utf8)
        var text = ""
        var start = 0
        for child in element.children {
            let offset = min(max(child.offset, start), bytes.count)
            text += String(decoding: bytes[start..<offset], as: UTF8.self)
            start = offset
            let name = child.localName.lowercased()
            let space = inline.contains(name) ? "" : " "
            text += space + (hidden.contains(name) ? "" : plain(child)) + space
        }
        return text + String(decoding: bytes[start...], as: UTF8.self)
    }

    /// A tag, a comment or a declaration.
    private struct Tag {
        /// In lowercase; empty for a comment or a declaration.
        let name: String
        let isEnd: Bool
        /// The index after it.
        let end: Int

        /// Nil if the `<` at this index begins none: `a < b`.
        init?(_ bytes: [UInt8], at start: Int) {
            let rest = bytes[(start + 1)...]
            guard let first = rest.first else { return nil }
            if rest.starts(with: Array("!--".utf8)) {
                (name, isEnd) = ("", false)
                let close = Array("-->".utf8)
                let end = bytes[(start + 4)...].indices.first { bytes[$0...].starts(with: close) }
                self.end = end.map { $0 + close.count } ?? bytes.count
                return
            }
            isEnd = first == UInt8(ascii: "/")
            let letters = rest.dropFirst(isEnd ? 1 : 0).prefix { $0.isLetter || $0.isDigit }
            guard letters.first.map({ $0 > UInt8(ascii: "9") }) ?? (!isEnd && "!?".utf8.contains(first))
            else {
                return nil
            }
            name = String(decoding: letters, as: UTF8.self).lowercased()
            var quote: UInt8?
            var index = letters.endIndex
            while index < bytes.count {
                let byte = bytes[index]
                index += 1
                if let open = quote {
                    if byte == open { quote = nil }
                } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                    // A quote begins only after `=`, so that an apostrophe elsewhere does not swallow the text.
                    if bytes[index - 2] == UInt8(ascii: "=") { quote = byte }
                } else if byte == UInt8(ascii: ">") {
                    break
                }
            }
            end = index
        }
    }

    /// A character reference: `&amp;`, `&eacute;`, `&#233;`, `&#xE9;`.
    struct Reference {
        let scalar: Unicode.Scalar
        /// The index after it.
        let end: Int

        /// The longest name between `&` and `;`.
        private static let longestName = 10

        /// Nil if the `&` at this index begins none that is known.
        init?(_ bytes: [UInt8], at start: Int) {
            let name = bytes[(start + 1)...].prefix(Self.longestName).prefix { $0 != UInt8(ascii: ";") }
            guard name.endIndex < bytes.count, bytes[name.endIndex] == UInt8(ascii: ";"), !name.isEmpty else {
                return nil
            }
            let text = String(decoding: name, as: UTF8.self)
            let scalar: Unicode.Scalar?
            if text.hasPrefix("#") {
                let digits = text.dropFirst()
                let number =
                    digits.lowercased().hasPrefix("x")
                    ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits, radix: 10)
                scalar = number.map(Self.scalar)
            } else {
                scalar = HTMLText.named[text]
            }
            guard let scalar else { return nil }
            self.scalar = scalar
            end = name.endIndex + 1
        }

        /// The character with a number. Numbers of the C1 controls mean Windows-1252 (HTML, 13.2.5.80).
        private static func scalar(_ number: UInt32) -> Unicode.Scalar {
            let scalars = HTMLText.windows1252
            if number >= 0x80, Int(number) - 0x80 < scalars.count { return scalars[Int(number) - 0x80] }
            return Unicode.Scalar(number).flatMap { $0 == "\0" ? nil : $0 } ?? "\u{FFFD}"
        }
    }

    /// The characters 0x80 to 0x9F of Windows-1252; those that it lacks are U+FFFD.
    static let windows1252 = Array(
        "€\u{FFFD}‚ƒ„…†‡ˆ‰Š‹Œ\u{FFFD}Ž\u{FFFD}\u{FFFD}‘’“”•–—˜™š›œ\u{FFFD}žŸ".unicodeScalars)

    /// The names of HTML 2 to 4 that are common in texts: those of Latin-1, in order from U+00A0, and punctuation.
    private static let named: [String: Unicode.Scalar] = {
        var named: [String: Unicode.Scalar] = [
            "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "ndash": "–", "mdash": "—",
            "lsquo": "‘",
            "rsquo": "’", "sbquo": "‚", "ldquo": "“", "rdquo": "”", "bdquo": "„", "lsaquo": "‹",
            "rsaquo": "›",
            "hellip": "…", "bull": "•", "trade": "™", "euro": "€", "OElig": "Œ", "oelig": "œ", "Scaron": "Š",
            "scaron": "š", "Yuml": "Ÿ", "larr": "←", "rarr": "→", "infin": "∞", "star": "☆", "starf": "★",
            "hearts": "♥",
        ]
        let latin = """
            nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 \
            acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde \
            Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute \
            Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde \
            auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute \
            ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml
            """
        for (number, name) in latin.split(separator: " ").enumerated() {
            named[String(name)] = Unicode.Scalar(UInt8(0xA0 + number))
        }
        return named
    }()
}
