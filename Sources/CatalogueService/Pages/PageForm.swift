import FilmLibrary
import HTTPSemantics
import MovieCatalogue

/// What the forms of the pages do. Each has an address of its own, since forms of HTML know no method but GET and POST.
enum PageForm: Hashable, Sendable {
    case add
    case edit(String)
    case rate(String)
    case remove(String)

    /// The form that a path below a film names; nil for none.
    init?(_ name: String, of id: String) {
        switch name {
        case "edit": self = .edit(id)
        case "rate": self = .rate(id)
        case "remove": self = .remove(id)
        default: return nil
        }
    }
}

/// A form as it was sent, or as it is shown first: what is in each field, and what is wrong with it.
struct SentForm: Sendable {
    var values: [String: String] = [:]
    /// By field, to be read after its name: "must be a number".
    var faults: [String: String] = [:]
    /// What is wrong with all of it.
    var fault: String?
    /// Of the film as the form showed it.
    var revision = ""

    init() {}

    /// The fields of a form: `film[title]`, `revision`. Browsers send line ends as CR LF.
    init(_ form: FilmForm) {
        for field in form.fields {
            var name = field.name[...]
            if name.hasPrefix("film["), name.hasSuffix("]") { name = name.dropFirst(5).dropLast() }
            values[String(name)] = field.value.replacing("\r\n", with: "\n")
        }
        revision = values["revision"] ?? ""
    }

    /// A film as a form shows it.
    init(_ film: StoredFilm) {
        let document = film.document
        for field in FilmFormPage.fields { values[field.name] = Self.text(document[field.name]) }
        revision = "\(film.revision)"
    }

    private static func text(_ value: JSONText?) -> String {
        guard let value, !value.isNull else { return "" }
        let text =
            value.string ?? value.elements.map { $0.compactMap(\.string).joined(separator: ", ") }
            ?? (value.number == nil ? "" : value.text)
        return HTML.shown(text.replacing("\r\n", with: "\n"))
    }

    /// Notes what a refusal says of the fields.
    mutating func note(_ refusal: FilmRefusal) {
        fault = refusal.problem.detail
        for error in refusal.problem.errors { faults[String(error.pointer.dropFirst())] = error.detail }
    }

    /// A field with its name above, and below it what is wrong with it.
    func input(_ name: String, _ label: String, _ attributes: HTML.Attributes = [:], _ html: inout HTML) {
        field(name, label, &html) { html, common in
            html.void("input", common + ["value": values[name]] + attributes)
        }
    }

    /// A field for a number. Browsers show nothing in one that holds what is no number, so that is typed over as a text.
    func number(_ name: String, _ label: String, _ attributes: HTML.Attributes, _ html: inout HTML) {
        let isNumber = faults[name] == nil
        input(
            name, label,
            isNumber ? ["type": "number"] + attributes : ["type": "text", "inputmode": "decimal"], &html)
    }

    /// - Parameter control: writes the element that is typed into, with the attributes that it is given.
    func field(
        _ name: String, _ label: String, _ html: inout HTML,
        control: (inout HTML, HTML.Attributes) -> Void
    ) {
        let fault = faults[name]
        html.element("div", ["class": "field field-\(name)"]) { html in
            html.element("label", ["for": name], text: label)
            let isFilm = FilmFormPage.fields.contains { $0.name == name } || name == "poster"
            control(
                &html,
                [
                    "id": name, "name": isFilm ? "film[\(name)]" : name,
                    "aria-invalid": fault == nil ? nil : "true",
                    "aria-describedby": fault == nil ? nil : "fault-\(name)",
                ])
            if let fault {
                html.element("p", ["class": "fault", "id": "fault-\(name)"]) { html in
                    html.text("\(label) ")
                    html.text(fault)
                }
            }
        }
    }
}
