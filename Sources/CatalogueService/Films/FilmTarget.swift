import HTTPSemantics

/// A parsed request target.
struct FilmTarget: Sendable {
    let route: FilmRoute
    /// The format of the path's ending.
    let ending: FilmFormat?
    let query: FormFields
    /// The relative path from the target's folder to the root: empty, `../` or more. It makes addresses relative, so
    /// that they are right behind a proxy that serves another path.
    var toRoot: String
    /// Whether it is `/`, which is a file in a folder.
    let isRoot: Bool

    /// Reads a target; nil if nothing is served there.
    /// - Parameter isRoot: whether the library is served at the root too.
    init?(_ target: RequestTarget, isRoot: Bool) {
        guard let (route, ending) = Self.route(target.segments, isRoot: isRoot) else { return nil }
        self.route = route
        self.ending = ending
        query = target.query
        toRoot = String(repeating: "../", count: max(0, target.segments.count - 1))
        self.isRoot = route == .list && !target.segments[0].hasPrefix("films")
    }

    private static func route(_ segments: [String], isRoot: Bool) -> (FilmRoute, FilmFormat?)? {
        guard let first = segments.first else { return (.service, nil) }
        switch segments.count {
        case 1:
            let (name, ending) = FilmFormat.split(first)
            if name == "films" { return (.list, ending) }
            if first == "soap" { return (.soap, nil) }
            if first == "add" { return (.form(.add), .html) }
            if first == "login" { return (.login, .html) }
            if first.isEmpty || name == "index" && ending == .html { return (.list, ending) }
            return isRoot && name == "movies" && ending != nil ? (.list, ending) : nil
        case 2 where first == "films":
            let (name, ending) = FilmFormat.split(segments[1])
            if name.isEmpty { return nil }
            return (name == "top3" ? .top(3) : .film(name), ending)
        case 3 where first == "films" && segments[1] == "top":
            let (name, ending) = FilmFormat.split(segments[2])
            guard name.utf8.allSatisfy(\.isDigit), let count = Int(name),
                (1...FilmRoute.maximumTop).contains(count)
            else { return nil }
            return (.top(count), ending)
        case 3 where first == "films" && segments[2] == "poster" && !segments[1].isEmpty:
            return (.poster(of: segments[1]), nil)
        case 3 where first == "films" && !segments[1].isEmpty:
            if let form = PageForm(segments[2], of: segments[1]) { return (.form(form), .html) }
            guard segments[1] == "style", segments[2].hasSuffix(".css") || segments[2] == Icon.name else {
                return nil
            }
            return (.style(segments[2]), nil)
        case 4 where first == "films" && segments[2] == "poster" && !segments[1].isEmpty:
            return (.picture(segments[3], of: segments[1]), nil)
        case 4 where first == "films" && segments[2] == "ratings" && !segments[1].isEmpty:
            var (name, ending) = FilmFormat.split(segments[3])
            // A vote has no HTML page.
            if ending == .html { (name, ending) = (segments[3], nil) }
            return isRater(name) ? (.rating(of: segments[1], by: name), ending) : nil
        default: return nil
        }
    }

    /// Whether a path names a film's poster.
    static func isPoster(_ segments: [String]) -> Bool {
        switch route(segments, isRoot: false)?.0 {
        case .poster, .picture: true
        default: false
        }
    }

    /// Names of raters are 1 to 200 bytes without control characters, like ids.
    static func isRater(_ name: String) -> Bool {
        (1...200).contains(name.utf8.count) && name != "." && name != ".."
            && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}
