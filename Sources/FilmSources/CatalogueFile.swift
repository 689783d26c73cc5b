import Films
import FoundationEssentials
import LazyImages

/// A catalogue in a file, or on standard input.
package struct CatalogueFile: FilmProvider {
    private let path: String

    /// The path of standard input.
    private static let standardInput = "/dev/stdin"

    /// - Parameter path: `-` for standard input.
    package init(_ path: String) { self.path = path == "-" ? Self.standardInput : path }

    package var name: String { path == Self.standardInput ? "standard input" : path }

    package var abilities: FilmAbilities {
        FilmAbilities().with { ($0.serving, $0.file) = (.catalogue(path: path), path) }
    }

    /// Reads the file. If a feed goes on elsewhere, notes the address, and does not read it: naming a file is no
    /// permission to use the network.
    package func readPages(
        _ selection: FilmSelection, _ access: any FilmAccess, _ take: CataloguePage.Taker
    ) async throws {
        let bytes = try await access.contents(ofFile: path, limit: selection.fileBytes)
        if let next = Catalogue.nextPage(in: bytes) {
            access.notice(
                "\(name): only this page is read; the feed goes on at \(next); name its address for all pages"
            )
        }
        // The addresses of standard input are relative to the working folder.
        let place = path == Self.standardInput ? FileManager.default.currentDirectoryPath + "/" : path
        let isList = path == Self.standardInput && CSVCatalogue.isOne("", beginning: bytes.prefix(32))
        let page = CataloguePage(bytes, base: BaseURL(URL(filePath: place)))
        _ = try await take(isList ? try CSVCatalogue(place).page(of: bytes) : page)
    }
}
