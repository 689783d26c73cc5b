import HTTPSemantics
import LazyImages
import SystemSupport
import TestSupport
import Testing

/// One row of a table of cases: the origin's answer, a second request some time later, and the cache's
/// behaviour.
struct CacheCase: Sendable, CustomTestStringConvertible {
    /// What a cache does with the second request.
    enum Use: Sendable {
        /// Answers from the cache.
        case hit
        /// Answers with a stale picture, and revalidates it meanwhile.
        case meanwhile
        /// Revalidates the stored answer.
        case validates
        /// Sends an unconditional request.
        case fetches
    }

    let name: String
    /// The origin's answer, with an ETag.
    let fields: HeaderFields
    var status = 200
    /// Whether the origin demands a credential.
    var isAuthorised = false
    /// Whether the origin demands a credential.
    let wait: Int
    /// Fields of the second request.
    var client: HeaderFields = [:]
    /// The behaviour of this service, and that of a private cache.
    let shared, `private`: Use
    /// The Cache-Control of the service's first answer; `N` is a number of seconds.
    let control: String
    /// The value of `N`. On a busy machine an answer is some seconds older.
    var seconds = 0

    var testDescription: String { name }

    /// The ETag of every answer.
    static let tag = "\"a\""
}

/// A case's origin. It answers every client that has the credential.
final class CaseOrigin: Sendable {
    private let asked = Lock<[String?]>([])
    private let cacheCase: CacheCase
    private let body: [UInt8]

    init(_ cacheCase: CacheCase) throws {
        self.cacheCase = cacheCase
        body = try Samples.jpeg(40, 60)
    }

    /// The If-None-Match of each request so far; nil for an unconditional one.
    var conditions: [String?] { asked.withLock { $0 } }

    func answer(_ request: TransportRequest) -> HeldTransport.Answer {
        if cacheCase.isAuthorised, request.fields["authorization"] == nil {
            return HeldTransport.Answer(
                [], status: 401, fields: ["WWW-Authenticate": "Bearer realm=\"posters\""])
        }
        let condition = request.fields["if-none-match"]
        asked.withLock { $0.append(condition) }
        var fields = cacheCase.fields
        guard cacheCase.status == 200 else {
            return HeldTransport.Answer([], status: cacheCase.status, fields: fields)
        }
        fields["ETag"] = CacheCase.tag
        if condition == CacheCase.tag { return HeldTransport.Answer([], status: 304, fields: fields) }
        return HeldTransport.Answer(body, fields: fields)
    }

    /// The behaviour that the second request showed.
    /// - Parameter isStale: whether its answer was stale.
    func use(isStale: Bool) -> CacheCase.Use? {
        let asked = conditions
        switch asked.count {
        case 1: return .hit
        case 2 where isStale: return .meanwhile
        case 2: return asked[1] == nil ? .fetches : .validates
        default: return nil
        }
    }
}

/// Returns the credential of the cases.
struct CaseAuthenticator: HTTPAuthenticator {
    func credential(for challenge: AuthenticationChallenge) async -> Credential? { .token("secret") }
}

extension CacheCase {
    private static let now = TestClock.start
    private static let date = HTTPDate.format(now)

    private static func at(_ offset: Int) -> String { HTTPDate.format(now + offset) }

    /// A case with this Cache-Control.
    private static func row(
        _ control: String, wait: Int = 100, _ shared: Use, _ private: Use, _ told: String,
        _ seconds: Int = 0
    ) -> CacheCase {
        CacheCase(
            name: control + ", after \(wait) s", fields: ["Cache-Control": control], wait: wait,
            shared: shared,
            private: `private`, control: told, seconds: seconds)
    }

    private static func row(
        _ name: String, _ fields: HeaderFields, status: Int = 200, wait: Int = 100, _ shared: Use,
        _ private: Use, _ told: String, _ seconds: Int = 0
    ) -> CacheCase {
        CacheCase(
            name: name + ", after \(wait) s", fields: fields, status: status, wait: wait, shared: shared,
            private: `private`, control: told, seconds: seconds)
    }

    private static func authorised(
        _ control: String, wait: Int = 100, _ shared: Use, _ private: Use, _ told: String
    )
        -> CacheCase
    {
        var row = row(control, wait: wait, shared, `private`, told, 600)
        row = CacheCase(
            name: "Authorization, " + row.name, fields: row.fields, isAuthorised: true, wait: wait,
            shared: shared, private: `private`, control: told, seconds: 600)
        return row
    }

    private static func asking(
        _ name: String, _ value: String, wait: Int = 100, _ private: Use, origin: String = "max-age=600"
    )
        -> CacheCase
    {
        CacheCase(
            name: "the client says \(name): \(value)", fields: ["Cache-Control": origin], wait: wait,
            client: [name: value], shared: .hit, private: `private`, control: "public, max-age=N",
            seconds: 600)
    }

    private static let fresh = "public, max-age=N"
    private static let strict = "public, max-age=N, must-revalidate"

    static let all: [CacheCase] = lifetimes + permissions + dates + statuses + requests

    /// Sections 4.2.1, 5.2.2 and 5.3.
    private static let lifetimes: [CacheCase] = [
        row("max-age=600", .hit, .hit, fresh, 600),
        row("max-age=600", wait: 700, .validates, .validates, fresh, 600),
        row("max-age=0", .validates, .validates, fresh), row("max-age=abc", .validates, .validates, fresh),
        row("max-age=600, max-age=5", .hit, .hit, fresh, 600), row("max-age=\"600\"", .hit, .hit, fresh, 600),
        row("MAX-AGE=600", .hit, .hit, fresh, 600),
        row("max-age=99999999999999999999", wait: 100_000_000, .hit, .hit, fresh, 1 << 31),
        row("s-maxage=600, max-age=5", .hit, .validates, strict, 600),
        row("s-maxage=5, max-age=600", .validates, .hit, strict, 5),
        row("s-maxage=600", .hit, .validates, strict, 600),
        row("s-maxage=x, max-age=600", .validates, .hit, strict),
        row("s-maxage, max-age=600", .validates, .hit, strict),
        row("S-MaxAge=\"600\"", .hit, .validates, strict, 600),
        row("max-age=600, must-revalidate", .hit, .hit, strict, 600),
        row("max-age=600, proxy-revalidate", .hit, .hit, strict, 600),
        row("max-age=600, proxy-revalidate", wait: 700, .validates, .validates, strict, 600),
        row("no-cache", .validates, .validates, strict),
        row("no-cache, max-age=600", .validates, .validates, strict),
        row("no-cache=\"set-cookie\", max-age=600", .hit, .hit, fresh, 600),
        row("max-age=600, stale-while-revalidate=600", wait: 700, .meanwhile, .meanwhile, fresh, 600),
        row("max-age=600, stale-while-revalidate=50", wait: 700, .validates, .validates, fresh, 600),
        row(
            "max-age=600, stale-while-revalidate=600, proxy-revalidate", wait: 700, .validates, .meanwhile,
            strict, 600),
        row(
            "max-age=600, stale-while-revalidate=600, must-revalidate", wait: 700, .validates, .validates,
            strict, 600),
        row("max-age=600, immutable", .hit, .hit, fresh, 600),
        row("max-age=600, immutable", wait: 700, .validates, .validates, fresh, 600),
        row("no-transform, max-age=600", .hit, .hit, fresh, 600),
        row("public", .validates, .validates, fresh),
    ]

    /// Sections 3, 3.5, 4.1 and 5.2.2.
    private static let permissions: [CacheCase] = [
        row("private, max-age=600", .fetches, .hit, "no-store"),
        row("private", .fetches, .validates, "no-store"),
        row("private=\"x-user\", max-age=600", .fetches, .hit, "no-store"),
        row("private, s-maxage=600", .fetches, .validates, "no-store"),
        row("no-store", .fetches, .fetches, "no-store"),
        row("no-store, max-age=600", .fetches, .fetches, "no-store"),
        row("no-store, must-understand, max-age=600", .hit, .hit, fresh, 600),
        row("Vary: *", ["Cache-Control": "max-age=600", "Vary": "*"], .fetches, .fetches, "no-store"),
        row("Vary: Accept", ["Cache-Control": "max-age=600", "Vary": "Accept"], .hit, .hit, fresh, 600),
        row(
            "Set-Cookie", ["Cache-Control": "max-age=600", "Set-Cookie": "a=b"], .hit, .hit, fresh, 600),
        authorised("max-age=600", .fetches, .hit, "no-store"),
        authorised("private, max-age=600", .fetches, .hit, "no-store"),
        authorised("public, max-age=600", .hit, .hit, fresh),
        authorised("s-maxage=600", .hit, .validates, strict),
        authorised("must-revalidate, max-age=600", .hit, .hit, strict),
        authorised("proxy-revalidate, max-age=600", .fetches, .hit, "no-store"),
    ]

    /// Sections 4.2.2, 4.2.3, 5.1 and 5.3.
    private static let dates: [CacheCase] = [
        row("Expires", ["Date": date, "Expires": at(600)], .hit, .hit, fresh, 600),
        row("Expires", ["Date": date, "Expires": at(600)], wait: 700, .validates, .validates, fresh, 600),
        row("Expires: 0", ["Date": date, "Expires": "0"], .validates, .validates, fresh),
        row("Expires in the past", ["Date": date, "Expires": at(-5)], .validates, .validates, fresh),
        row(
            "Expires and max-age=600", ["Expires": at(5), "Cache-Control": "max-age=600"], .hit, .hit, fresh,
            600),
        row(
            "Expires and s-maxage=5", ["Expires": at(600), "Cache-Control": "s-maxage=5"], .validates, .hit,
            strict, 5),
        row("Last-Modified", ["Date": date, "Last-Modified": at(-10_000)], .hit, .hit, fresh, 1000),
        row(
            "Last-Modified", ["Date": date, "Last-Modified": at(-10_000)], wait: 1100, .validates, .validates,
            fresh, 1000),
        row("nothing", [:], .validates, .validates, fresh),
        row("Age: 500", ["Age": "500", "Cache-Control": "max-age=600"], wait: 50, .hit, .hit, fresh, 100),
        row(
            "Age: 500", ["Age": "500", "Cache-Control": "max-age=600"], wait: 150, .validates, .validates,
            fresh,
            100),
        row("Age: x", ["Age": "x", "Cache-Control": "max-age=600"], .hit, .hit, fresh, 600),
        row(
            "Date 300 s ago", ["Date": at(-300), "Cache-Control": "max-age=600"], wait: 400, .validates,
            .validates, fresh, 300),
        row(
            "Date in 300 s", ["Date": at(300), "Cache-Control": "max-age=600"], wait: 500, .hit, .hit, fresh,
            600),
        row(
            "Date and Expires 300 s ahead", ["Date": at(300), "Expires": at(900)], wait: 500, .hit, .hit,
            fresh, 600),
        row(
            "Pragma: no-cache in an answer", ["Pragma": "no-cache", "Cache-Control": "max-age=600"], .hit,
            .hit,
            fresh, 600),
    ]

    /// Answers without a picture. `no-store` means that the service's answer is not cacheable.
    private static let statuses: [CacheCase] = [
        row("404", [:], status: 404, .hit, .hit, "public, max-age=60"),
        row("404", [:], status: 404, wait: 400, .fetches, .fetches, "public, max-age=60"),
        row(
            "404 max-age=5", ["Cache-Control": "max-age=5"], status: 404, .fetches, .fetches,
            "public, max-age=60"),
        row(
            "404 max-age=9999", ["Cache-Control": "max-age=9999"], status: 404, wait: 400, .fetches, .fetches,
            "public, max-age=60"),
        row(
            "404 no-store", ["Cache-Control": "no-store"], status: 404, .fetches, .fetches,
            "public, max-age=60"),
        row("404 private", ["Cache-Control": "private"], status: 404, .fetches, .hit, "public, max-age=60"),
        row("410", [:], status: 410, .hit, .hit, "public, max-age=60"),
        row("403 max-age=600", ["Cache-Control": "max-age=600"], status: 403, .fetches, .fetches, "no-store"),
        row("500 max-age=600", ["Cache-Control": "max-age=600"], status: 500, .fetches, .fetches, "no-store"),
    ]

    /// Section 5.2.1: a private cache obeys its user, but no client makes a shared service fetch.
    private static let requests: [CacheCase] = [
        asking("Cache-Control", "no-cache", .validates), asking("Cache-Control", "max-age=0", .validates),
        asking("Cache-Control", "max-age=50", .validates),
        asking("Cache-Control", "min-fresh=550", .validates),
        asking("Cache-Control", "max-age=0", .hit, origin: "max-age=600, immutable"),
        asking("Cache-Control", "only-if-cached", .hit), asking("Cache-Control", "max-stale", .hit),
        // Deprecated (section 5.4).
        asking("Pragma", "no-cache", .hit),
    ]
}
