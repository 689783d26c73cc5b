import FilmLibrary
import HTTPSemantics
import HTTPServer
package import PictureService

/// Pictures of films' posters.
package struct FilmPictures: Sendable {
    let service: PictureService
    /// The picture at an address beside the catalogue; nil if there is none.
    let local: @Sendable (String) -> StoredOriginal?

    package init(
        _ service: PictureService, local: @escaping @Sendable (String) -> StoredOriginal? = { _ in nil }
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
        guard let original = try original(of: id, pictures) else { throw Self.noPoster(id) }
        return pictures.service.admit(call.head, recipe, of: original, from: call.peer)
    }

    /// Answers a request for a poster at a web address that may be fetched; nil for all other posters.
    func admitFetchedPoster(of id: String, _ call: FilmCall) throws -> Admission? {
        guard let pictures, case .address(let source, _)? = try original(of: id, pictures),
            pictures.service.rules.offersOriginal(of: source)
        else { return nil }
        return pictures.service.admit(
            call.head, PictureRecipe.original, of: .address(source, isSigned: false), from: call.peer)
    }

    private func original(of id: String, _ pictures: FilmPictures) throws -> PictureOriginal? {
        guard let film = try library.film(id) else { throw FilmRefusal.notFound(id) }
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
