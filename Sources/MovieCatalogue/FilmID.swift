/// The ids of films in a library. Each is a path segment of the service.
public enum FilmID {
    /// The most bytes of an id in UTF-8.
    public static let maximumBytes = 200

    /// Names that the service uses, or that mean folders.
    private static let reserved: Set<String> = [".", "..", "top", "top3"]
    /// Suffixes that select a format.
    private static let endings = [".json", ".xml", ".html"]
    /// The most bytes that `make` takes from a title.
    private static let maximumTitleBytes = 100

    /// What the id must be instead, to follow "must be"; nil for a valid id.
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

    /// Makes an id from title and year: `el-camino-2019`. Removes case and accents and replaces other characters by
    /// hyphens.
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

    /// Makes an id from title, year and an id that a library cannot have, such as an address:
    /// `faust-1926-2dlz5hmpx9kmw`. Equal ids give equal ones. The end is the FNV-1a hash (64 bits) of the id.
    public static func make(title: String, year: Int?, from written: String) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in written.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return make(title: title, year: year) + "-" + String(hash, radix: 36)
    }

    /// Makes a random id, different from all others.
    public static func random() -> String {
        String(UInt128.random(in: .min ... .max), radix: 36)
    }
}
