import LazyImages

/// Loads the image at the address it is given and prints its format and size, as any program may that uses the library.
@main
struct LibraryConsumer {
    static func main() async throws {
        guard let address = CommandLine.arguments.dropFirst().first else {
            return print("usage: LibraryConsumer URL")
        }
        let loader = ImageLoader()
        let image = try await loader.image(for: ImageRequest(address))
        print("\(image.header.format) \(image.bitmap.width) x \(image.bitmap.height)")
    }
}
