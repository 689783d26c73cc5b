import ImageCodecs

/// The pages for adding, editing and removing a film.
struct FilmFormPage {
    /// A field of a film.
    struct Field {
        enum Kind { case line, number(ClosedRange<Int>), lines }

        let name, label: String
        var kind = Kind.line
        var isRequired = false
    }

    /// The fields of the forms. All other members of a film stay as they are.
    static let fields = [
        Field(name: "title", label: "Title", isRequired: true),
        Field(name: "originalTitle", label: "Original title"),
        Field(name: "year", label: "Year", kind: .number(1800...9999)),
        Field(name: "minutes", label: "Minutes", kind: .number(1...100_000)),
        Field(name: "director", label: "Director"),
        Field(name: "country", label: "Country"),
        Field(name: "genres", label: "Genres, separated by commas"),
        Field(name: "score", label: "Score, 0 to 10", kind: .number(0...10)),
        Field(name: "overview", label: "Overview", kind: .lines),
    ]

    let page: Page
    let form: SentForm
    /// Where the form is sent, and where Cancel leads.
    let action, back: String

    /// The form for adding or editing a film.
    var html: [UInt8] {
        page.html { html in
            html.element("div", ["class": "sheet"]) { html in
                html.element("h1", ["dir": "auto"], text: page.title ?? "")
                fault(&html)
                html.element(
                    "form",
                    ["class": "fields", "method": "post", "action": action, "enctype": "multipart/form-data"]
                ) { html in
                    if !form.revision.isEmpty { revision(&html) }
                    for field in Self.fields { control(field, &html) }
                    form.field("poster", "Poster, a picture", &html) { html, common in
                        let types = ImageDecoders.standard.mediaTypes.joined(separator: ",")
                        html.void("input", common + ["type": "file", "accept": types])
                    }
                    buttons("Save", "button", &html)
                }
            }
        }
    }

    /// Asks whether to remove a film.
    /// - Parameter question: the question, with everything that will be removed.
    func removal(_ question: String) -> [UInt8] {
        page.html { html in
            html.element("div", ["class": "sheet"]) { html in
                html.element("h1", ["dir": "auto"], text: page.title ?? "")
                fault(&html)
                html.element("p", ["dir": "auto"], text: question)
                html.element("form", ["method": "post", "action": action]) { html in
                    revision(&html)
                    buttons("Remove", "button danger", &html)
                }
            }
        }
    }

    private func control(_ field: Field, _ html: inout HTML) {
        let required = field.isRequired ? "" : nil
        switch field.kind {
        case .line:
            form.input(field.name, field.label, ["type": "text", "dir": "auto", "required": required], &html)
        case .number(let range):
            form.number(
                field.name, field.label,
                [
                    "min": "\(range.lowerBound)", "max": "\(range.upperBound)",
                    "step": field.name == "score" ? "any" : "1",
                ], &html)
        case .lines:
            form.field(field.name, field.label, &html) { html, common in
                html.element(
                    "textarea", common + ["rows": "6", "cols": "60", "dir": "auto"],
                    // The parser drops the first line end of the element (the HTML standard, section 13.1.2.5).
                    text: "\n" + (form.values[field.name] ?? ""))
            }
        }
    }

    private func fault(_ html: inout HTML) {
        guard let fault = form.fault else { return }
        html.element("p", ["class": "alert", "role": "alert", "dir": "auto"], text: fault)
    }

    private func revision(_ html: inout HTML) {
        html.void("input", ["type": "hidden", "name": "revision", "value": form.revision])
    }

    private func buttons(_ label: String, _ style: String, _ html: inout HTML) {
        html.element("p", ["class": "actions"]) { html in
            html.element("button", ["class": style], text: label)
            html.element("a", ["class": "button quiet", "href": back], text: "Cancel")
        }
    }
}
