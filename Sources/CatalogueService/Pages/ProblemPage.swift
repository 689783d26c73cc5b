import HTTPSemantics

/// The page that says why a request failed, and what to do.
struct ProblemPage {
    private let problem: ProblemDetails
    private var page: Page

    init(_ problem: ProblemDetails, on page: Page) {
        self.problem = problem
        self.page = page
        self.page.title = problem.status.reason
    }

    var html: [UInt8] {
        page.html { html in
            html.element("div", ["class": "problem"]) { html in
                html.element(
                    "p", ["class": "numeral", "aria-hidden": "true"], text: "\(problem.status.rawValue)")
                html.element("h1", text: problem.status.reason)
                html.element("p", ["class": "reason", "dir": "auto"], text: problem.detail)
                if !problem.errors.isEmpty {
                    html.element("ul") { html in
                        for error in problem.errors {
                            html.element("li", ["dir": "auto"], text: error.detail)
                        }
                    }
                }
                html.element("p", text: advice)
                if problem.status == .unauthorized, page.access == .login {
                    html.element("a", ["class": "button", "href": "\(page.toRoot)login"], text: "Sign in")
                }
                html.element("a", ["class": "button", "href": page.home], text: "All films")
            }
        }
    }

    private var advice: String {
        switch problem.status {
        case .notFound, .gone: "It may have been removed or renamed. Search for it, or look at all films."
        case .unauthorized: "Sign in with a token, and repeat the change."
        case .forbidden, .methodNotAllowed:
            "You can still look at the films. The operator of this service can change what is allowed."
        case .preconditionFailed, .conflict: "Go back, load the page again, and repeat the change."
        case .badRequest: "Check the address, or begin again with all films."
        case .tooManyRequests, .serviceUnavailable: "Wait a moment, then load the page again."
        case .internalServerError, .insufficientStorage:
            "Nothing was changed. Try again later; the operator of this service has been told."
        default: "Go back and try again, or begin again with all films."
        }
    }
}
