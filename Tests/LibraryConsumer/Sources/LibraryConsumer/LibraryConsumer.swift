import LazyImages

/// Loads the image at the address it is given and prints its format and size, as any program may that uses the library.
/// With a folder too, checks that a format of its own goes all the way: see `OwnFormat`.
@main
struct LibraryConsumer {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let address = arguments.first else {
            return print("usage: LibraryConsumer URL [CACHE-FOLDER]")
        }
        if let folder = arguments.dropFirst().first {
            return try await OwnFormat.load(ImageRequest(address), cachedIn: folder)
        }
        let loader = ImageLoader()
        let image = try await loader.image(for: ImageRequest(address))
        print("\(image.header.format) \(image.bitmap.width) x \(image.bitmap.height)")
    }
}
