import FilmLibrary
import HTTPSemantics

/// A film's poster in pages, in every size that the picture service has, so that a browser takes the one that fits. The
/// frame has a poster's shape before the picture loads, and shows a cut-paper cover with the title until then.
struct ShownPoster {
    /// The address of the original size.
    let address: String
    /// The end of the address after the size: a stored poster has a tag, under which a picture never changes.
    let suffix: String
    /// Whether pictures in other sizes are made.
    let hasSizes: Bool

    private static let widths = [154, 185, 342, 500, 780]
    /// The assumed width and height of a poster until it has loaded. The stylesheet sets the frame's shape.
    private static let size = (width: 342, height: 513)

    /// - Returns: nil if the film has no poster.
    init?(of film: StoredFilm, at address: String, hasSizes: Bool) {
        switch film.poster {
        case .none: return nil
        case .address: suffix = ""
        case .stored(_, _, let tag): suffix = ".v\(tag)"
        }
        self.address = "\(address)/poster"
        self.hasSizes = hasSizes
    }

    /// Attributes of a picture.
    /// - Parameters:
    ///   - sizes: the displayed width, as in the HTML attribute `sizes`.
    ///   - isLazy: whether it loads only when it comes near the screen.
    func attributes(sizes: String, isLazy: Bool) -> HTML.Attributes {
        var attributes: HTML.Attributes = [
            "src": hasSizes ? "\(address)/w342\(suffix)" : address,
            "width": "\(Self.size.width)", "height": "\(Self.size.height)",
            // The title is beside it. An empty text also keeps browsers from drawing a broken-picture icon over the
            // cover.
            "alt": "", "decoding": "async",
        ]
        if isLazy { attributes.list.append(("loading", "lazy")) }
        if hasSizes {
            let set = Self.widths.map { "\(address)/w\($0)\(suffix) \($0)w" }.joined(separator: ", ")
            attributes.list += [("srcset", set), ("sizes", sizes)]
        }
        return attributes
    }
}

extension ShownFilm {
    /// The frame with the poster.
    func frame(_ html: inout HTML, sizes: String, isLazy: Bool) {
        html.element("span", ["class": "frame cover-\(Self.cover(id))"]) { html in
            html.element("span", ["class": "cover", "aria-hidden": "true", "dir": "auto"], text: title)
            if let poster {
                html.void(
                    "img", poster.attributes(sizes: sizes, isLazy: isLazy))
            }
        }
    }

    /// One of the six covers. A film has the same cover on every page.
    private static func cover(_ id: String) -> Int {
        Int(id.utf8.reduce(UInt32(0)) { $0 &* 31 &+ UInt32($1) } % 6)
    }
}
