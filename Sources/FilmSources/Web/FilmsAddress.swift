package import FoundationEssentials
import HTTPSemantics

/// The addresses of a film service, found from the address of a catalogue that it serves:
///
///     http://nas:8080/                     http://nas:8080/films
///     http://nas:8080/films?sort=year      http://nas:8080/films
///     http://nas:8080/library/films/top3   http://nas:8080/library/films
///     http://nas:8080/soap?wsdl            http://nas:8080/films, with SOAP beside it
package struct FilmsAddress: Sendable {
    /// The list of all films, without a slash at its end.
    package let films: URL
    /// Whether the catalogue's address is the list itself or the service's root, without a query.
    package let isWhole: Bool
    /// Whether the address names the list, not only the server, which may have only plain files.
    package let isNamed: Bool
    /// Whether the service is used by SOAP. Default: yes if the address is the SOAP one.
    package var isSoap = false

    /// Nil if the address names another file: `https://example.org/movies.json`.
    package init?(catalogue url: URL) {
        guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return nil }
        let path = components.percentEncodedPath
        var segments = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if let index = segments.firstIndex(where: Self.isList) {
            isNamed = true
            isWhole =
                components.percentEncodedQuery == nil
                && segments[(index + 1)...].allSatisfy(\.isEmpty) && segments[index] == "films"
            segments = Array(segments[..<index])
        } else if segments.last == "soap",
            ["", "wsdl"].contains(components.percentEncodedQuery?.lowercased() ?? "")
        {
            (isNamed, isWhole, isSoap) = (true, false, true)
            segments.removeLast()
        } else if path.isEmpty || path.hasSuffix("/") {
            isNamed = false
            isWhole = components.percentEncodedQuery == nil
            if segments.last?.isEmpty == true { segments.removeLast() }
        } else {
            return nil
        }
        components.percentEncodedPath = (segments + ["films"]).joined(separator: "/")
        if !components.percentEncodedPath.hasPrefix("/") {
            components.percentEncodedPath = "/" + components.percentEncodedPath
        }
        components.percentEncodedQuery = nil
        components.fragment = nil
        guard let films = components.url else { return nil }
        self.films = films
    }

    private static func isList(_ segment: String) -> Bool {
        ["films", "films.json", "films.xml", "films.html"].contains(segment)
    }

    /// The address for SOAP.
    package var soap: URL { url(films.absoluteString.dropLast("films".count) + "soap") }

    /// One film.
    package func film(_ id: String) -> URL { below(PercentEncoding.encoded(id)) }

    /// A film's poster.
    package func poster(of id: String) -> URL { below(PercentEncoding.encoded(id) + "/poster") }

    /// One person's vote on a film.
    package func rating(of id: String, by rater: String) -> URL {
        below(PercentEncoding.encoded(id) + "/ratings/" + PercentEncoding.encoded(rater))
    }

    /// The best films.
    package func top(_ count: Int) -> URL { below("top/\(count)") }

    /// The list, in the largest pages that the service gives.
    package func pages(searching text: String? = nil) -> URL {
        let search = text.map { "&q=" + PercentEncoding.encoded($0) } ?? ""
        return url(films.absoluteString + "?limit=\(Self.pageLimit)" + search)
    }

    /// The films of a page. A service with smaller pages links to the next one.
    private static let pageLimit = 1000

    private func below(_ path: String) -> URL { url(films.absoluteString + "/" + path) }

    private func url(_ text: String) -> URL {
        // A URL followed by a path of unreserved characters is always a URL.
        URL(string: text) ?? films
    }
}
