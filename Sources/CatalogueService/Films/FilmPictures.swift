import FilmLibrary
import HTTPSemantics
import HTTPServer
package import PictureServer
import PictureService

/// Pictures of films' posters.
package struct FilmPictures: Sendable {
    let service: PictureServer
    /// The picture at an address beside the catalogue; nil if there is none.
    let local: @Sendable (String) -> StoredOriginal?

    package init(
        _ service: PictureServer, local: @escaping @Sendable (String) -> StoredOriginal? = { _ in nil }
    ) {
        self.service = service
        self.local = local
    }
}

extension FilmService {
    /// Answers a request for a film's poster at a size, without waiting for the picture.
    func admitPicture(_ recipe: String, of id: String, _ call: FilmCall) throws -> Admission {
        guard let pictures else {
            throw FilmRefusal(.notFound, "posters are served in their original size only")
        }
        // Read before the film, as for all kept answers.
        let (state, key) = (try library.state, answerKey(call.head, call.access))
        guard let film = try library.film(id) else { throw FilmRefusal.notFound(id) }
        guard let original = original(of: film, pictures) else { throw Self.noPoster(id) }
        let admission = pictures.service.admit(call.head, recipe, of: original, from: call.peer)
        // The picture of a poster in the library is the same until the library changes.
        if case .stored = film.poster, case .answer(let answer) = admission, answer.status == .ok,
            // Ignored: a recipe that cannot be read has no answer of 200. One that expires is checked each time.
            (try? PictureRecipe(recipe))?.expiry == nil
        {
            let counters = pictures.service.counters
            answers.keep(
                KeptAnswer(answer) { counters.count(.memoryHit) }, as: key, state)
        }
        return admission
    }

    /// Answers a request for a poster at a web address that may be fetched; nil for all other posters.
    func admitFetchedPoster(of id: String, _ call: FilmCall) throws -> Admission? {
        guard let film = try library.film(id) else { throw FilmRefusal.notFound(id) }
        guard let pictures, case .address(let source, _)? = original(of: film, pictures),
            pictures.service.rules.offersOriginal(of: source)
        else { return nil }
        return pictures.service.admit(
            call.head, PictureRecipe.original, of: .address(source, isSigned: false), from: call.peer)
    }

    private func original(of film: StoredFilm, _ pictures: FilmPictures) -> PictureOriginal? {
        let id = film.id
        switch film.poster {
        case .none: return nil
        case .stored(_, _, let tag):
            let library = library
            return .stored(
                StoredOriginal(name: "films/\(id)", tag: tag, cacheControl: "no-cache") {
                    guard let poster = try library.poster(of: id), poster.tag == tag else {
                        throw FilmRefusal.notFound(id)
                    }
                    return poster.bytes
                })
        case .address(let address):
            if WebOrigin(address) != nil {
                // Losing the error is right: from an unusable address no picture is made.
                return (try? PictureSource(PercentEncoding.visible(address))).map {
                    .address($0, isSigned: false)
                }
            }
            return pictures.local(address).map { .stored($0) }
        }
    }
}
