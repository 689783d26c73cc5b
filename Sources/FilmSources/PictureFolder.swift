import Films
import FoundationEssentials
import HTTPSemantics
package import LazyImages
import SystemSupport

/// The pictures of a folder: the files with the suffix of an image type, in the order of their names. Each is a film with
/// its name as the title. Hidden files and folders in it are left out.
package struct PictureFolder: FilmProvider {
    /// One picture.
    package struct Picture: Sendable {
        /// The file's name for people.
        package let name: String
        /// The file's address, relative to the folder. A name that is not UTF-8 keeps its bytes.
        package let address: String
    }

    package let path: String
    package var name: String { path }
    package var abilities: FilmAbilities { FilmAbilities().with { $0.serving = .folder(path: path) } }
    /// The address that the pictures' addresses are relative to.
    package var base: BaseURL { BaseURL(URL(filePath: path, directoryHint: .isDirectory)) }

    package init(_ path: String) { self.path = path }

    /// The pictures that are there now.
    /// - Throws: `FilmFault` if the folder cannot be read.
    package func pictures() throws(FilmFault) -> [Picture] {
        let names: [[UInt8]]
        do throws(FileFault) {
            let calls = FileCalls()
            names = try calls.nameBytes(in: try calls.openFolder(path))
        } catch {
            throw FilmFault("\(path): the folder cannot be read: \(error)")
        }
        return names.filter { $0.first != UInt8(ascii: ".") && MediaType.isPicture($0) }
            .map {
                Picture(
                    name: String(decoding: $0, as: UTF8.self), address: "./" + PercentEncoding.encoded($0))
            }
            .sorted { ($0.name.lowercased(), $0.address) < ($1.name.lowercased(), $1.address) }
    }

    package func readPages(
        _ selection: FilmSelection, _ access: any FilmAccess, _ take: CataloguePage.Taker
    ) async throws {
        let pictures = try pictures()
        guard !pictures.isEmpty else {
            throw FilmFault(
                "\(path): there are no films and no pictures in this folder or in its folders; name another one, or a catalogue"
            )
        }
        var taken: [String: Int] = [:]
        let films = pictures.map { picture in
            let stem = picture.name.lastIndex(of: ".").map { String(picture.name[..<$0]) } ?? picture.name
            let number = taken[picture.name, default: 0]
            taken[picture.name] = number + 1
            // Two names may be equal once their wrong bytes are replaced.
            let id = number == 0 ? picture.name : "\(picture.name)-\(number + 1)"
            var film = Movie(id: id, title: stem)
            film[.poster] = .text(picture.address)
            return SourceFilm(film)
        }
        let name = URL(filePath: path).standardized.lastPathComponent
        _ = try await take(CataloguePage(films, name: name, base: base))
    }
}
