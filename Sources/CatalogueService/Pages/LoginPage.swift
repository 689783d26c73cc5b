import HTTPSemantics
import HTTPServer

/// Signing in: a person shows a token, and the browser gets a session cookie.
///
///     GET  /login                     the page that asks for a token
///     GET  /login?token=3Xq0…         signs in, and goes on to the wall; `to=films/faust/edit` names another page.
///                                     Followed from another site, it shows the page
///     POST /login                     the same with the fields `token` and `to`; with `out` it signs out
struct LoginPage {
    let page: Page
    /// Where to go on: a path of the service without its first slash.
    let destination: String
    /// Why the last token was refused; nil at first.
    let fault: String?
    /// Whether reading needs the token too.
    let isPrivate: Bool

    var html: [UInt8] {
        page.sheet(fault) { html in
            html.element(
                "p",
                text:
                    "\(isPrivate ? "Seeing these films" : "Changing films") needs a token. `marquee token` prints it on the machine of the service; for a service with a token file its operator has one for you."
            )
            html.element("form", ["class": "fields", "method": "post", "action": "\(page.toRoot)login"]) {
                html in
                html.void("input", ["type": "hidden", "name": "to", "value": destination])
                html.element("div", ["class": "field"]) { html in
                    html.element("label", ["for": "token"], text: "Token")
                    html.void(
                        "input",
                        [
                            "type": "password", "id": "token", "name": "token", "required": "",
                            "autocomplete": "current-password", "spellcheck": "false",
                        ])
                }
                html.element("p", ["class": "actions"]) { html in
                    html.element("button", ["class": "button"], text: "Sign in")
                    html.link(page.home, "Cancel", class: "button quiet")
                }
            }
        }
    }
}

extension FilmService {
    /// The most bytes of a sign-in form.
    static let loginLimit = 8 << 10

    /// Answers a request for the login page.
    func login(_ call: ServiceCall, _ body: [UInt8]) throws -> HTTPResponse {
        guard configuration.takesTokens else { throw FilmRefusal.nothingHere }
        let fields: [FormFields.Field]
        if call.isRead {
            fields = call.target.query.fields
        } else {
            guard case .form = try FilmContent(call) else {
                throw FilmRefusal(.unsupportedMediaType, "only a form is accepted here")
            }
            fields = try FilmForm.fields(body)
        }
        func value(_ name: String) -> String? { fields.first { $0.name == name }?.value }
        let cookie = SessionCookie(call.fields, configuration)
        if !call.isRead, value("out") != nil { return signOut(call, cookie) }
        let destination = destination(value("to") ?? "")
        // Another site's link may have a stranger's token, and what is written here would seem to be the stranger's.
        guard let text = value("token"), gate.isOwnPage(call.fields) else {
            if !call.access.asksForLogin { return seeOther(destination, call) }
            return try loginPage(call, destination, nil, .ok)
        }
        guard let token = configuration.writers.token(String(FieldList.trimmed(text[...]))) else {
            configuration.reportRefusedToken(call.head, call.peer)
            return try loginPage(
                call, destination, "This token is unknown. A service makes a new one each time it starts.",
                .unauthorized)
        }
        var response = seeOther(destination, call)
        response.fields.append(cookie.field(configuration.writers.cookie(of: token)))
        return response
    }

    /// Ends the session, and removes the cookie even if that could not be stored.
    private func signOut(_ call: ServiceCall, _ cookie: SessionCookie) -> HTTPResponse {
        var response = seeOther("", call)
        do {
            if let session = call.session, let ended = gate.ended {
                try configuration.writers.end(session, in: ended)
            }
        } catch {
            response = failure(error, call)
        }
        response.fields.append(cookie.field(nil))
        return response
    }

    private func loginPage(
        _ call: ServiceCall, _ destination: String, _ fault: String?, _ status: HTTPStatus
    ) throws -> HTTPResponse {
        let page = try page(call, title: "Sign in")
        let login = LoginPage(
            page: page, destination: destination, fault: fault, isPrivate: configuration.isPrivate)
        return answer(login.html, status, call)
    }

    /// The path if it is one of the service's own; otherwise the wall. A link must not lead to another site.
    private func destination(_ path: String) -> String {
        // Ignored: a path that cannot be read leads to the wall.
        guard let target = try? RequestTarget("/" + path), target.authority == nil,
            ![.login, .image, .operations, .file].contains(
                ServiceRoute.parse(target.segments, configuration).route)
        else { return "" }
        return PercentEncoding.visible(path)
    }
}

/// The cookie of a browser that has signed in (RFC 6265).
///
///     Set-Cookie: marquee-8080=u9BQ2dQ1….1790000000.3Zf…; Path=/; HttpOnly; SameSite=Strict
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
        let pairs = fields.values(of: "cookie").flatMap {
            $0.split(separator: ";").map { FieldList.trimmed($0) }
        }
        return pairs.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
    }

    /// The field that sets the cookie until the browser ends; with nil the field that removes it.
    func field(_ value: String?) -> HeaderFields.Field {
        let attributes = "; Path=\(path); HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
        return .init(
            name: "Set-Cookie",
            value: "\(name)=\(value ?? "")" + (value == nil ? "; Max-Age=0" : "") + attributes)
    }
}
