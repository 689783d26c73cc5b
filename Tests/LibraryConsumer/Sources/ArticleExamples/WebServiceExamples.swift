import Hummingbird
import LazyImages
import PictureService

let sizes = ["w342", "342x513.fill", "342x513.fill.round12"]

func addPosters(to router: Router, _ loader: FileLoader) {
    router.get("posters/:name/:recipe") { _, context in
        let name = try context.parameters.require("name")
        let text = try context.parameters.require("recipe")
        // A name with a slash or a dot would be another address. Any other size would be work that a stranger orders.
        guard name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }),
            sizes.contains(text)
        else { throw HTTPError(.badRequest, message: "not a poster at a size: \(name) \(text)") }
        do {
            let request = ImageRequest("https://images.example.org/\(name).jpg")
            let picture = try await loader.picture(for: request, PictureRecipe(text))
            let type = picture.header?.format.mediaType ?? "application/octet-stream"
            return Response(
                status: .ok, headers: [.contentType: type, .cacheControl: "max-age=600"],
                body: ResponseBody(byteBuffer: picture.bytes.buffer))
        } catch let error as ImageLoadingError {
            throw HTTPError(status(of: error), message: error.code)
        }
    }
}

func status(of error: ImageLoadingError) -> HTTPResponse.Status {
    switch error {
    case .httpStatus(_, 404), .httpStatus(_, 410): .notFound
    case .invalidURL: .badRequest
    case .timedOut: .gatewayTimeout
    default: .badGateway
    }
}

func recipes() throws -> [PictureRecipe] {
    let poster = try PictureRecipe(
        .fill(ImageSize(width: 342, height: 513)), steps: [.roundedCorners(radius: 12)])
    let same = try PictureRecipe("342x513.fill.round12")
    return [poster, same]
}
