/// The ids that films of a library have: each is one part of a path of the service.
public enum FilmID {
    /// Bytes of UTF-8 that an id has at most.
    public static let maximumBytes = 200

    /// Names that the service uses itself, or that mean folders.
    private static let reserved: Set<String> = [".", "..", "top", "top3"]
    /// Endings that choose a format.
    private static let endings = [".json", ".xml", ".html"]
    /// What a made id takes of a title.
    private static let maximumTitleBytes = 100

    /// What an id must be that `id` is not, to be read after "must be"; nil for an id that is allowed.
    public static func fault(_ id: String) -> String? {
        if id.isEmpty || id.utf8.count > maximumBytes { return "1 to \(maximumBytes) bytes of UTF-8" }
        if id.contains("/") { return "without /" }
        if id.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            return "without control characters"
        }
        if reserved.contains(id) { return "another name: the service uses \"\(id)\" itself" }
        let lowercased = id.lowercased()
        if let ending = endings.first(where: lowercased.hasSuffix) { return "without \(ending) at the end" }
        return nil
    }

    /// An id from a title and a year: `el-camino-2019`. Letters lose case and accents, and all else becomes a hyphen.
    public static func make(title: String, year: Int?) -> String {
        var name = ""
        for character in FoldedText.fold(title) {
            if character.isLetter || character.isNumber {
                guard name.utf8.count + character.utf8.count <= maximumTitleBytes else { break }
                name.append(character)
            } else if character != "'", !name.isEmpty, !name.hasSuffix("-") {
                name.append("-")
            }
        }
        if name.hasSuffix("-") { name.removeLast() }
        if name.isEmpty { name = "film" }
        if let year { name += "-\(year)" }
        return fault(name) == nil ? name : name + "-film"
    }

    /// An id that no film has.
    public static func random() -> String {
        String(UInt128.random(in: .min ... .max), radix: 36)
    }
}
