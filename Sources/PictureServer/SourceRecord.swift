import HTTPSemantics
import Hashing
import ImageCodecs
import PictureService

/// The facts about a source without its bytes: the hash of its content, and how long it is fresh. It leads from an
/// address to the derivatives, whose keys name the content. So a changed source never gives an old picture, an
/// unchanged source keeps all its pictures, and a purge removes only the record.
///
///     marquee source 2
///     content 2cf24dba…64 digits
///     file 42250 jpeg 500 750
///     answer 1790000000 1 600
///     cache-control: max-age=600
///     end
///
/// The line `answer` has the time when the answer came in seconds since 1970, its age at that time, and its freshness
/// lifetime, both in seconds. The lines of the origin's Cache-Control follow, and `damaged` for a damaged source.
struct SourceRecord: Hashable, Sendable {
    /// The SHA-256 of the source's bytes: 64 hexadecimal digits in lower case.
    let content: String
    /// The size of the source's file.
    let byteCount: Int
    let format: ImageFormat
    let size: ImageSize
    /// The values of the origin's Cache-Control.
    let control: [String]
    /// When the answer came, in seconds since 1970.
    let received: Int
    /// The answer's age at that time, in seconds.
    let initialAge: Int
    /// The freshness lifetime, counted from when the origin made the answer, in seconds.
    var lifetime: Int
    /// Whether a shared cache may store it. True for stored records.
    var mayBeKept = true
    /// Whether the source is damaged: its pictures show what there is of it.
    var isDamaged = false

    /// The key that a picture of this content is stored under.
    func key(_ recipe: PictureRecipe) -> SHA256.Digest { Picture.key(recipe, ofContent: content) }
}

extension SourceRecord {
    /// The present age in seconds.
    func age(now: Int) -> Int { Freshness.age(initial: initialAge, received: received, now: now) }

    /// How pictures of it may be used. Clients cannot change that: they must not make a shared service fetch.
    func use(now: Int) -> CacheUse {
        CacheUse(
            age: age(now: now), lifetime: lifetime, control: directives,
            directives: CacheControl(HeaderFields()))
    }

    /// Whether its pictures may be sent stale, because the origin fails or the service is busy.
    func allowsStale(now: Int) -> Bool {
        CacheUse.allowsStaleOnError(
            age: age(now: now), lifetime: lifetime, control: directives,
            directives: CacheControl(HeaderFields()))
    }

    /// Whether no cache may ever use its pictures stale.
    var mustRevalidate: Bool { directives.mustRevalidate || directives.noCache }

    /// The directives that apply to a shared cache.
    private var directives: CacheControl {
        var fields = HeaderFields()
        for value in control { fields.append(HeaderFields.Field(name: "Cache-Control", value: value)) }
        return CacheKind.shared.control(fields)
    }
}

extension SourceRecord {
    private static let title = "marquee source 2"
    private static let end = "end"
    private static let control = "cache-control: "
    private static let damaged = "damaged"

    /// The record in its stored form.
    var text: String {
        let lines =
            [
                Self.title, "content \(content)",
                "file \(byteCount) \(format.name) \(size.width) \(size.height)",
                "answer \(received) \(initialAge) \(lifetime)",
            ] + control.map { Self.control + $0 } + (isDamaged ? [Self.damaged] : [])
        return lines.joined(separator: "\n") + "\n\(Self.end)\n"
    }

    /// Reads a stored record; nil if the text is not a whole record.
    init?(_ text: String) {
        // Splits bytes: Swift takes a carriage return with a line feed for one character.
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { Substring($0) }
        guard lines.count >= 6, lines[0] == Self.title, lines[lines.count - 1].isEmpty,
            lines[lines.count - 2] == Self.end,
            let content = Self.words(of: lines[1], after: "content", count: 1),
            content[0].utf8.count == 64,
            content[0].utf8.allSatisfy({ $0.isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) }
            ),
            let file = Self.words(of: lines[2], after: "file", count: 4), let byteCount = Int(file[0]),
            let format = ImageDecoders.standard.format(named: String(file[1])),
            let width = Int(file[2]), let height = Int(file[3]), byteCount > 0, width > 0, height > 0,
            let answer = Self.words(of: lines[3], after: "answer", count: 3), let received = Int(answer[0]),
            let initialAge = Int(answer[1]), let lifetime = Int(answer[2])
        else { return nil }
        var control: [String] = []
        let isDamaged = lines[lines.count - 3] == Self.damaged
        for line in lines[4..<(lines.count - (isDamaged ? 3 : 2))] {
            let value = String(line.dropFirst(Self.control.count))
            guard line.hasPrefix(Self.control),
                HeaderFields.fault(name: "cache-control", value: value) == nil
            else { return nil }
            control.append(value)
        }
        self.init(
            content: String(content[0]), byteCount: byteCount, format: format,
            size: ImageSize(width: width, height: height), control: control, received: received,
            initialAge: initialAge, lifetime: lifetime, isDamaged: isDamaged)
    }

    private static func words(of line: Substring, after name: String, count: Int) -> [Substring]? {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        return words.count == count + 1 && words[0] == name ? Array(words.dropFirst()) : nil
    }
}

/// The freshness that the service gives its own answers.
enum PictureFreshness {
    /// The lifetime of an immutable picture, in seconds: a year, the most that caches were ever asked for (RFC 2616
    /// section 14.21).
    private static let immutableLifetime = 31_536_000
    /// How long a failure of the source itself holds, in seconds: the source is missing, or not a picture.
    static let failureLifetime = 60

    /// The Cache-Control of a picture. Its max-age is the rest of the source's freshness, so the answer needs no Age. No
    /// picture outlives its address. A picture that only the requesting client may see must not be stored.
    /// - Parameter now: seconds since 1970.
    static func control(of address: KnownAddress, _ record: SourceRecord, now: Int) -> String {
        guard record.mayBeKept else { return "no-store" }
        // A damaged source may be healed.
        let isImmutable = address.isImmutable && !record.isDamaged
        let expiry = address.recipe.expiry
        if case .stored(let stored) = address.original, !isImmutable {
            // The record never becomes stale, but the next poster has another one.
            return expiry == nil ? stored.cacheControl : "no-cache"
        }
        let remaining = isImmutable ? immutableLifetime : max(0, record.lifetime - record.age(now: now))
        let seconds = expiry.map { min(remaining, max(0, $0 - now)) } ?? remaining
        return "public, max-age=\(seconds)"
            + (isImmutable ? ", immutable" : record.mustRevalidate ? ", must-revalidate" : "")
    }

    /// The Cache-Control of an answer without a picture.
    static func control(ofFailure status: HTTPStatus) -> String {
        [404, 410, 422].contains(status.rawValue) ? "public, max-age=\(failureLifetime)" : "no-store"
    }
}
