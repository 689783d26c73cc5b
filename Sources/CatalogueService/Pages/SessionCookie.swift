import HTTPSemantics

/// The cookie of a browser that has signed in (RFC 6265).
///
///     Set-Cookie: marquee-8080=u9BQ2dQ1….3Zf…; Path=/; HttpOnly; SameSite=Strict
///
/// A browser sends cookies to every port of a host. So the name has the port that the browser used: two services on one
/// machine do not overwrite each other's cookies.
struct SessionCookie {
    let name: String
    private let path: String
    private let isSecure: Bool

    /// The cookie for requests with these fields: their Host is the address that the browser used.
    init(_ fields: HeaderFields, _ configuration: FilmServiceConfiguration) {
        let host = fields["host"] ?? ""
        let address = configuration.publicAddress(host)
        isSecure = address?.origin.scheme == "https"
        path = address?.path ?? "/"
        name = "marquee-\(HostAndPort(host)?.port ?? (isSecure ? 443 : 80))"
    }

    /// The cookie's value in a request; nil if it is absent.
    func value(in fields: HeaderFields) -> String? {
        for line in fields.values(of: "cookie") {
            for pair in line.split(separator: ";") {
                let pair = FieldList.trimmed(pair)
                if pair.hasPrefix(name), pair.dropFirst(name.count).first == "=" {
                    return String(pair.dropFirst(name.count + 1))
                }
            }
        }
        return nil
    }

    /// The field that sets the cookie until the browser ends; with nil the field that removes it.
    func field(_ value: String?) -> HeaderFields.Field {
        let attributes = "; Path=\(path); HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
        return .init(
            name: "Set-Cookie",
            value: "\(name)=\(value ?? "")" + (value == nil ? "; Max-Age=0" : "") + attributes)
    }
}
