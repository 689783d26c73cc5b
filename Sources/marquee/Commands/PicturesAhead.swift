import ImageCodecs
import LazyImages

/// Pictures that are printed in order. Some load ahead of the printed one.
struct PicturesAhead {
    /// A picture; why there is none; or nil if it has no address.
    typealias Load = Task<Result<LoadedImage, ImageLoadingError>, Never>

    /// The number of pictures loaded ahead.
    private static let lookAhead = 12

    private let count: Int
    private let begin: (Int) -> Load?
    private var loads: [Load?] = []

    /// - Parameters:
    ///   - count: the number of pictures.
    ///   - begin: begins to load the picture with this number, from 0.
    init(count: Int, begin: @escaping (Int) -> Load?) {
        self.count = count
        self.begin = begin
    }

    /// Waits for the picture with this number. Ask for one after the other. If the task is cancelled, all loads are.
    mutating func picture(_ index: Int) async -> Result<LoadedImage, ImageLoadingError>? {
        while loads.count < min(count, index + Self.lookAhead) { loads.append(begin(loads.count)) }
        let picture = await withTaskCancellationHandler {
            await loads[index]?.value
        } onCancel: { [loads] in
            for load in loads { load?.cancel() }
        }
        loads[index] = nil
        return picture
    }

    /// A load of a picture at a size in pixels.
    static func load(
        _ address: String, relativeTo base: BaseURL, _ size: ImageSize, _ loader: ImageLoader,
        _ session: Session
    ) -> Load {
        Task {
            do throws(ImageLoadingError) {
                var request = try session.request(for: address, relativeTo: base)
                request.targetSize = size
                return await FetchRecord.fetching(request, with: loader, session).image
            } catch {
                return .failure(error)
            }
        }
    }
}
