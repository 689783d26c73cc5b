import FoundationEssentials
import HTTPSemantics
import LazyImages
import SystemSupport

/// The pictures of a folder: the files with the suffix of an image type, in the order of their names. Hidden files and
/// folders in it are left out.
struct PictureFolder: Sendable {
    /// One picture.
    struct Picture: Sendable {
        /// The file's name for people.
        let name: String
        /// The file's address, relative to the folder. A name that is not UTF-8 keeps its bytes.
        let address: String
    }

    let path: String
    let pictures: [Picture]

    /// Reads the folder's list of files.
    /// - Throws: `Failure` if it cannot be read.
    init(_ path: String) throws(Failure) {
        self.path = path
        let calls = FileCalls()
        let names = try Failure.naming("\(path): the folder cannot be read") {
            try calls.nameBytes(in: try calls.openFolder(path))
        }
        pictures = names.filter { $0.first != UInt8(ascii: ".") && MediaType.isPicture($0) }
            .map {
                Picture(
                    name: String(decoding: $0, as: UTF8.self), address: "./" + PercentEncoding.encoded($0))
            }
            .sorted { ($0.name.lowercased(), $0.address) < ($1.name.lowercased(), $1.address) }
    }

    /// The address that the pictures' addresses are relative to.
    var base: BaseURL { BaseURL(URL(filePath: path, directoryHint: .isDirectory)) }

    /// The pictures as a catalogue in JSON: a film for each, with its name as the title.
    func catalogue() throws(Failure) -> [UInt8] {
        struct Films: Encodable {
            let name: String
            let movies: [[String: String]]
        }
        guard !pictures.isEmpty else {
            throw Failure(
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
            return ["id": id, "title": stem, "poster": picture.address]
        }
        let name = URL(filePath: path).standardized.lastPathComponent
        // Ignored: texts can always be encoded.
        return (try? JSONEncoder().encode(Films(name: name, movies: films))).map { [UInt8]($0) } ?? []
    }
}
