import FoundationEssentials
import HTTPSemantics
import LazyImages
import MovieCatalogue
import PictureServer
import PictureService

/// `marquee prewarm --through URL`: fills a picture service, or all instances behind a balancer, by asking for each
/// picture at each size. Nothing is kept here.
extension PrewarmCommand {
    static let throughOptions = [
        Option(
            name: "through", value: "URL",
            help: "fill the picture service at this address instead: its films, or a manifest's pictures"),
        Option(
            name: "sizes", value: "RECIPES", help: "the sizes to request, such as w154,w342",
            isRepeatable: true),
        Option(
            name: "sign-key-file", value: "FILE",
            help: "keys, one on each line; the first signs the addresses (see marquee sign)"),
    ]

    static func fillService(_ session: Session) async throws -> ExitStatus {
        let arguments = session.arguments
        for option in ["detach", "name", "offline"] where arguments.has(option) {
            throw UsageError("--\(option) does not go with prewarm --through")
        }
        let service = try SignCommand.service(arguments.value("through") ?? "", "through")
        let recipes = try recipes(arguments)
        if arguments.has("no-cellular") { try CellularRefusal.check() }
        let list =
            if arguments.operands.isEmpty, session.settings.catalogue == nil {
                try await films(of: service, recipes, session)
            } else {
                try await pictures(through: service, recipes, session)
            }
        return await fill(list, with: session.makePictureLoader(), session)
    }

    private static func recipes(_ arguments: Arguments) throws(UsageError) -> [PictureRecipe] {
        let words = arguments.words("sizes")
        if words.isEmpty {
            throw UsageError("prewarm --through needs the sizes to ask for, such as --sizes w154,w342")
        }
        return try words.map { word throws(UsageError) in
            do {
                return try PictureRecipe(word)
            } catch {
                throw UsageError("--sizes: \(error)")
            }
        }
    }

    /// All sizes of a picture, one after the other: the instance that has its source makes them of one decode.
    private static func films(
        of service: String, _ recipes: [PictureRecipe], _ session: Session
    ) async throws -> List {
        guard !session.arguments.has("sign-key-file") else {
            throw UsageError(
                "posters of a service's own films are not signed; name a manifest, or leave out --sign-key-file"
            )
        }
        let pages = try await CatalogueSource.read(url: service + "/films", with: session)
        let catalogue: Catalogue
        do {
            catalogue = try pages.catalogue().catalogue
        } catch {
            throw Failure("\(service)/films: \(error)")
        }
        guard let address = FilmsAddress(catalogue: try URL(typed: service + "/films")) else {
            throw Failure("\(service) has no films; name a manifest")
        }
        var list = List()
        for movie in catalogue.movies where movie.poster != nil {
            for recipe in recipes {
                let url = address.poster(of: movie.id).absoluteString + "/\(recipe)"
                list.requests.append((try session.request(for: url, relativeTo: nil), true))
            }
        }
        if list.requests.isEmpty { throw Failure("\(service)/films: no film has a poster; name a manifest") }
        return list
    }

    /// The pictures of a manifest, under the addresses that the service has for them.
    private static func pictures(
        through service: String, _ recipes: [PictureRecipe], _ session: Session
    ) async throws -> List {
        var keys: SigningKeys?
        if let path = session.arguments.value("sign-key-file") { keys = try await SignCommand.keys(path) }
        var list = try await list(session)
        let entries = list.requests
        list.requests = []
        var failures = FailureReport(session.output)
        for (entry, _) in entries {
            guard let source = try? PictureSource(entry.url.absoluteString), source.origin != nil else {
                let failure = Failure(
                    "\(entry.url.displayText): a service fetches http and https only", code: "invalid-entry")
                failures.add(failure.description)
                record(FetchRecord(failure, of: entry.url.displayText), session)
                list.rejected += 1
                continue
            }
            for recipe in recipes {
                let address =
                    keys.map { PictureAddress(recipe, of: source, signedBy: $0) }
                    ?? PictureAddress(recipe, of: source)
                list.requests.append(
                    (try session.request(for: service + address.path, relativeTo: nil), true))
                list.names.append("\(entry.url.displayText) at \(recipe)")
            }
        }
        if list.requests.isEmpty {
            throw Failure(
                "the manifest names nothing that \(service) could fetch; name addresses with http or https")
        }
        return list
    }
}
