package import Films
package import FoundationEssentials
package import HTTPSemantics
import LazyImages

/// A server of films with an account of the user. It knows what to request, and reads the answers. It has no network of
/// its own: `FilmAccess` sends its requests, so that all go through one loader, with its cache, its limits and its retries.
///
/// Another kind of server is a folder beside this file with a type that conforms, and its entry in `FilmServers.kinds`.
package protocol FilmServer: FilmProvider {
    /// A name of this kind, as the help and messages show it.
    static var example: String { get }

    /// The server that a name means, such as `tmdb:popular`; nil if the name is of another kind.
    /// - Throws: what is wrong with a name of this kind.
    init?(name: String) throws(FilmFault)

    /// Whose marks are at the server: the source's name, and the user's if it is named.
    var account: String { get }

    /// The server, which alone gets the user's credential for it.
    var address: URL { get }

    /// Adds the user's credential to a request for `address`. Nothing else ever sees the credential.
    func authorize(_ url: inout URL, _ fields: inout HeaderFields, with token: String)

    /// Checks the server and the credential.
    /// - Returns: what answers, in one line, such as `Jellyfin 10.10.3`.
    /// - Throws: `FilmFault` for a credential that the server does not take.
    func check(_ access: any FilmAccess) async throws -> String

    /// The request that sets a mark of a film at the server, or removes it; nil where the server has no such mark.
    /// - Parameter film: its id.
    func request(toSet mark: FilmMark, _ isSet: Bool, of film: String) -> (method: RequestMethod, url: URL)?

    /// The address of the server's smallest picture that is at least `width` pixels wide, or of its largest; nil if the
    /// picture is not of such a server.
    static func poster(_ address: URL, atLeast width: Int) -> URL?

    /// Whether a picture never changes under its address, whatever the answer says.
    static func isImmutable(_ poster: URL) -> Bool
}

extension FilmServer {
    package var account: String { name }
    package var server: (any FilmServer)? { self }
    package func request(
        toSet mark: FilmMark, _ isSet: Bool, of film: String
    ) -> (method: RequestMethod, url: URL)? { nil }
    package static func isImmutable(_ poster: URL) -> Bool { false }

    /// The address of something on the server.
    func url(_ path: String, _ items: [URLQueryItem] = []) -> URL {
        var parts = URLComponents(url: address, resolvingAgainstBaseURL: true)
        parts?.path += path
        if !items.isEmpty { parts?.queryItems = items }
        return parts?.url ?? address
    }

    /// An answer in JSON, and when the server last confirmed it.
    func answer(
        to url: URL, _ access: any FilmAccess
    ) async throws -> (node: JSONNode, confirmed: Int?) {
        do {
            let answer = try await access.answer(to: url, ["Accept": "application/json"])
            try checkOrigin(answer.base.url, of: url)
            return (try JSONNode(parsing: answer.bytes), answer.confirmed)
        } catch ImageLoadingError.httpStatus(let text, let status) {
            try checkOrigin(URL(string: text), of: url)
            if [401, 403].contains(status) { throw access.refusal(by: address) }
            guard status == 404 else { throw ImageLoadingError.httpStatus(url: text, status: status) }
            throw FilmFault("\(text): the server has no such list; check the address", code: "no-such-list")
        }
    }

    /// Checks that no redirect has led to another origin, which gets no credential.
    /// - Parameters:
    ///   - answered: the URL after redirects.
    ///   - url: the requested one.
    private func checkOrigin(_ answered: URL?, of url: URL) throws(FilmFault) {
        guard let answered, !SecurityPolicy.haveSameOrigin(answered, address) else { return }
        // `/Items` of `http://nas/jellyfin/Items`.
        let path = url.path().dropFirst(address.path().count)
        let place = answered.absoluteString.prefix { $0 != "?" }
        let isSame = place.hasSuffix(path)
        let other = place.dropLast(isSame ? path.count : 0)
        let better = name.replacing(address.absoluteString, with: other)
        throw FilmFault("the server redirects to \(other); \(isSame ? "use \(better)" : "check the address")")
    }
}

/// The kinds of servers.
package enum FilmServers {
    private static let kinds: [any FilmServer.Type] = [JellyfinSource.self, TMDBSource.self]

    /// A name of each kind.
    package static let examples = kinds.map { $0.example }

    /// The server that a name means; nil if the name is of no kind.
    package static func server(named name: String) throws(FilmFault) -> (any FilmServer)? {
        for kind in kinds { if let server = try kind.init(name: name) { return server } }
        // `plex+https://nas:32400`
        let kind = name.prefix { $0.isASCII && $0.isLetter }
        guard !kind.isEmpty, ["+http://", "+https://"].contains(where: name.dropFirst(kind.count).hasPrefix)
        else { return nil }
        throw .invalidName(
            "films of \(kind) cannot be read; there are \(examples.joined(separator: " and "))")
    }

    /// Whether a word is the name of a server, perhaps a wrong one.
    package static func areNamed(by word: String) -> Bool {
        do throws(FilmFault) { return try server(named: word) != nil } catch { return true }
    }

    /// The address of a poster at a size: that of the server's own picture of at least `width` pixels, where the server
    /// has several; otherwise as it is.
    package static func poster(_ address: URL, atLeast width: Int) -> URL {
        for kind in kinds { if let sized = kind.poster(address, atLeast: width) { return sized } }
        return address
    }

    /// Whether a poster never changes under its address, whatever the answer says.
    package static func isImmutable(_ poster: URL) -> Bool { kinds.contains { $0.isImmutable(poster) } }

    /// The widths of posters that are requested, in pixels. Few, so that few files are cached.
    static let widths = [92, 154, 185, 342, 500, 780]

    /// The smallest of the widths that is enough, or the largest.
    static func width(atLeast width: Int) -> Int { widths.first { $0 >= width } ?? widths[widths.count - 1] }
}
