package import HTTPSemantics
package import ImageCodecs
package import PictureService

/// Which pictures may be made, and from which sources. The address alone decides, before anything is looked up or
/// fetched.
///
/// Without a signature: the listed sizes of the listed sources. With a signature: any size within the limits; and any
/// source, unless the operator has listed some. The network addresses of the source's host are checked when connecting,
/// not here.
package struct PictureRules: Sendable {
    /// An allowed host: `example.org` at ports 80 and 443, or `example.org:8080` at that port only. `*.example.org`
    /// allows all subdomains; see `HostPattern`.
    package struct Source: Hashable, Sendable {
        package let name: HostAndPort

        package init(_ name: HostAndPort) { self.name = name }

        /// The host of an address; nil for one with an asterisk, which must not become a pattern.
        package init?(_ origin: WebOrigin) {
            if origin.host.contains("*") { return nil }
            name = HostAndPort(host: origin.host, port: Self.ports.contains(origin.port) ? nil : origin.port)
        }

        /// Host and port, as written in an address.
        package var text: String {
            let host = name.host.contains(":") ? "[\(name.host)]" : name.host
            return name.port.map { "\(host):\($0)" } ?? host
        }

        /// The ports if none is named.
        fileprivate static let ports: Set<Int> = [80, 443]
    }

    /// The sizes of The Movie Database.
    package static let standardSizes = ["w92", "w154", "w185", "w342", "w500", "w780", "original"]

    /// The sources that the operator lists.
    package var sources: Set<Source>
    /// The hosts of the catalogue's posters. They are allowed too, but do not limit signed addresses.
    package var catalogueSources: Set<Source>
    /// The derivations of the listed sizes.
    private var sizes: Set<String>
    package var keys: SigningKeys?
    /// The largest picture.
    package let limits: DecodingLimits

    /// - Parameters:
    ///   - sizes: the listed recipes. Default: `standardSizes`. Their expiry and tag are ignored.
    ///   - limits: the limits, which also apply to decoding sources. Default: the decoders'.
    /// - Throws: `.malformedRecipe` for an invalid size.
    package init(
        sources: Set<Source> = [], catalogueSources: Set<Source> = [], sizes: [String] = standardSizes,
        keys: SigningKeys? = nil, limits: DecodingLimits = .standard
    ) throws(PictureRefusal) {
        self.sources = sources
        self.catalogueSources = catalogueSources
        self.keys = keys
        self.limits = limits
        var derivations: Set<String> = []
        for size in sizes { derivations.insert(try PictureRefusal.recipe(size).derivation) }
        self.sizes = derivations
    }

    /// The recipes in a file, one on each line; see `ListFile`.
    /// - Throws: `.malformedSizes` or `.noSizes`.
    package static func sizes(inFile file: [UInt8]) throws(PictureRefusal) -> [String] {
        guard let entries = ListFile.entries(of: file) else { throw .malformedSizes(line: 1) }
        guard !entries.isEmpty else { throw .noSizes }
        var sizes: [String] = []
        for (line, words) in entries {
            // Ignored: the error of the recipe; the line says where it is.
            guard words.count == 1, (try? PictureRecipe(words[0])) != nil else {
                throw .malformedSizes(line: line)
            }
            sizes.append(words[0])
        }
        return sizes
    }

    /// Takes the keys and the listed sizes of other rules.
    /// - Returns: what has changed: `keys`, `sizes`.
    mutating func take(_ other: PictureRules) -> [String] {
        let changes = (keys == other.keys ? [] : ["keys"]) + (sizes == other.sizes ? [] : ["sizes"])
        (keys, sizes) = (other.keys, other.sizes)
        return changes
    }

    /// Checks whether an address may be answered.
    /// - Parameter now: seconds since 1970.
    /// - Throws: the error of the first rule that refuses: signature, expiry, scheme, source, size.
    package func check(_ address: PictureAddress, now: Int) throws(PictureRefusal) {
        let isSigned = address.isSigned(by: keys)
        guard isSigned || address.signature == nil else { throw .wrongSignature }
        try checkExpiry(of: address.recipe, now: now)
        try check(address.source, isSigned: isSigned)
        try checkSize(of: address.recipe, isSigned: isSigned)
    }

    /// Checks an unsigned recipe for a source that the service chooses itself: a film's poster.
    package func check(_ recipe: PictureRecipe, now: Int) throws(PictureRefusal) {
        try checkExpiry(of: recipe, now: now)
        try checkSize(of: recipe, isSigned: false)
    }

    /// Whether the source's own bytes may be sent.
    package func offersOriginal(of source: PictureSource) -> Bool {
        // Ignored: the caller asks only whether, not why.
        sizes.contains(PictureRecipe.original) && (try? check(source)) != nil
    }

    private func checkExpiry(of recipe: PictureRecipe, now: Int) throws(PictureRefusal) {
        if let expiry = recipe.expiry, now >= expiry { throw .expired(expiry) }
    }

    /// Checks whether a source may be fetched, as far as its address tells.
    package func check(_ source: PictureSource, isSigned: Bool = false) throws(PictureRefusal) {
        guard ["https", "http"].contains(source.scheme) else { throw .forbiddenScheme(source.scheme) }
        // The address has no origin if it contains user information.
        guard let origin = source.origin else { throw .forbiddenCredentials }
        let patterns = HostPattern.patterns(matching: origin.host)
        let isUsualPort = Source.ports.contains(origin.port)
        let ports: [Int?] = isUsualPort ? [origin.port, nil] : [origin.port]
        for host in patterns {
            for port in ports {
                let rule = Source(HostAndPort(host: host, port: port))
                if sources.contains(rule) || catalogueSources.contains(rule) { return }
            }
        }
        // A signature vouches for the host, not for services at other ports.
        let vouchesForHosts = sources.isEmpty
        if isSigned, vouchesForHosts, isUsualPort { return }
        let name = HostAndPort(host: origin.host, port: isUsualPort ? nil : origin.port)
        let isHostAllowed =
            isSigned && vouchesForHosts
            || sources.union(catalogueSources).contains { patterns.contains($0.name.host) }
        guard !isHostAllowed else {
            throw .forbiddenPort(HostAndPort(host: origin.host, port: origin.port))
        }
        throw .forbiddenSource(name, isSignable: keys != nil && vouchesForHosts && isUsualPort)
    }

    private func checkSize(of recipe: PictureRecipe, isSigned: Bool) throws(PictureRefusal) {
        guard isSigned || sizes.contains(recipe.derivation) else { throw .unlistedSize("\(recipe)") }
        // If one side is missing, it follows from the source, which is within the limits too.
        let size: ImageSize? =
            switch recipe.size {
            case .width(let width): ImageSize(width: width, height: 1)
            case .height(let height): ImageSize(width: 1, height: height)
            case .box(let box), .fill(let box): box
            case .original: nil
            }
        guard let size else { return }
        do {
            try limits.check(size)
        } catch {
            throw .tooLarge("\(recipe)")
        }
    }
}

/// A file that an operator writes: one entry on each line. Blank lines and lines that begin with # are skipped.
///
///     # since March
///     w342
enum ListFile {
    /// The words of each entry, separated by spaces or tabs, and its line, counted from 1. Nil if the file is not text
    /// in UTF-8.
    static func entries(of file: [UInt8]) -> [(line: Int, words: [String])]? {
        guard let text = String(validating: file, as: UTF8.self) else { return nil }
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return lines.enumerated().compactMap { index, line in
            let words = line.split { [0x20, 0x09, 0x0D].contains($0) }
            guard let first = words.first, first.first != UInt8(ascii: "#") else { return nil }
            return (index + 1, words.map { String(Substring($0)) })
        }
    }
}
