import LazyImages

/// Loads the image at the given address and prints its format and size. With a folder too, it checks a custom
/// format: see `OwnFormat`. With the address of a slow server and a folder, it uses every part of the
/// library's interface: see `EveryTask`.
@main
struct LibraryConsumer {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch arguments.count {
        case 1:
            let image = try await ImageLoader.shared.image(for: ImageRequest(arguments[0]))
            print("\(image.header.format) \(image.bitmap.width) x \(image.bitmap.height)")
        case 2: try await OwnFormat.load(ImageRequest(arguments[0]), cachedIn: arguments[1])
        case 3: try await EveryTask(server: arguments[0], slow: arguments[1], folder: arguments[2]).run()
        default: print("usage: LibraryConsumer URL [CACHE-FOLDER] | SERVER SLOW-SERVER FOLDER")
        }
    }
}
