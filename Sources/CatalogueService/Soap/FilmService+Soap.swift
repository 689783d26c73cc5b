import FilmSources
import Films
import HTTPSemantics
import HTTPServer

/// Films in SOAP 1.1: the operations of `FilmOperations`, as REST has them. The same clients may write.
extension FilmService {
    /// The description: `GET /soap?wsdl`. Clients differ in the case of these letters.
    func soapDescription(_ call: ServiceCall) throws(FilmRefusal) -> HTTPResponse {
        guard call.target.query.fields.contains(where: { $0.name.equalsIgnoringCase("wsdl") }) else {
            throw FilmRefusal(
                .methodNotAllowed, "send SOAP messages by POST; /soap?wsdl lists the operations",
                fields: ["Allow": "OPTIONS, POST"])
        }
        let text = SoapDescription.text(location: configuration.address(call.head) + "soap")
        return call.coding.applied(
            to: HTTPResponse(
                status: .ok, fields: ["Content-Type": SoapEnvelope.contentType, "Cache-Control": "no-cache"],
                body: .bytes(Array(text.utf8))))
    }

    /// Answers a message. The body alone selects the operation; a receiver must not rely on SOAPAction (WS-I Basic
    /// Profile 1.1, R1127).
    func soap(_ call: ServiceCall, _ body: RequestBody) -> HTTPResponse {
        do {
            try SoapEnvelope.checkType(call.fields)
            let message = try SoapEnvelope(parsing: try body.bytes())
            let result = try result(of: message.content, call)
            return call.coding.applied(
                to: HTTPResponse(
                    status: .ok,
                    fields: ["Content-Type": SoapEnvelope.contentType, "Cache-Control": "no-store"],
                    body: .bytes(SoapEnvelope.message(result))))
        } catch let fault as SoapFault {
            return fault.response
        } catch {
            let refusal = refusal(of: error, call)
            switch refusal.problem.status {
            // HTTP's own statuses report a missing right to write, or a body that is not SOAP.
            case .unauthorized, .forbidden, .unsupportedMediaType:
                return refusal.response(to: call.head)
            default: return SoapFault(refusal).response
            }
        }
    }

    private func result(of content: XMLElement, _ call: ServiceCall) throws -> String {
        guard content.namespace == SoapOperation.namespace,
            let operation = SoapOperation(rawValue: content.localName)
        else {
            throw SoapFault.client(
                "unknown operation {\(content.namespace)}\(content.localName); /soap?wsdl lists the operations"
            )
        }
        for element in [content] + content.children {
            var names: Set<String> = []
            for name in element.children.map(SoapFilm.name) where !names.insert(name).inserted {
                throw FilmRefusal.invalid(name, "must come once, not twice")
            }
        }
        let answer = try perform(operation, content, call)
        let name = operation.rawValue + "Response"
        return "<\(name) xmlns=\"\(SoapOperation.namespace)\">\(answer)</\(name)>"
    }

    private func perform(
        _ operation: SoapOperation, _ content: XMLElement, _ call: ServiceCall
    ) throws -> String {
        let name = operation.resultName
        switch operation {
        case .top3AsXml:
            let page = try page(FilmQuery(sort: .score, limit: 3))
            return Self.text(name, try Self.catalogue(page, named: library.name))
        case .filmsAsXml:
            let page = try page(
                try Self.query(pageLimit: Self.pageLimit) { name in content.value(name).map { [$0] } ?? [] })
            return Self.text(name, try Self.catalogue(page, named: library.name))
                + (page.next.map { Self.text("next", $0) } ?? "")
        case .film: return Self.film(try library.existingFilm(try Self.id(content)), name)
        case .add:
            let film = IncomingFilm(try Self.film(content, keepsNull: false))
            try checkWrite("POST", on: .list, call)
            return Self.film(try add(film, toRoot: ""), name)
        case .edit:
            let film = try Self.film(content)
            let id = try Self.id(content)
            let condition = try Self.condition(content.child("film")?.attribute("tag"))
            try checkWrite("PATCH", on: .film(id), call)
            let incoming = try IncomingFilm(film).addressed(to: id, toRoot: "")
            return Self.film(try operations.change(id, incoming.document, if: condition), name)
        case .rate:
            let id = try rate(content, call)
            return Self.film(try library.existingFilm(id), name)
        case .remove:
            let id = try Self.id(content)
            let condition = try Self.condition(content.value("tag"))
            try checkWrite("DELETE", on: .film(id), call)
            try operations.remove(id, if: condition)
            return ""
        }
    }

    /// Sets or removes a vote.
    /// - Returns: the film's id.
    private func rate(_ content: XMLElement, _ call: ServiceCall) throws -> String {
        let rater = content.value("rater") ?? ""
        try FilmOperations.check(rater: rater)
        let id = try Self.id(content)
        guard let value = content.child("value") else {
            throw FilmRefusal.invalid("value", "is missing; send a number from 0 to 10, or xsi:nil")
        }
        try checkWrite(value.isNil ? "DELETE" : "PUT", on: .rating(of: id, by: rater), call)
        if value.isNil {
            try operations.unrate(id, by: rater)
        } else {
            _ = try operations.rate(id, by: rater, SoapFilm.number(value.text).number ?? .nan)
        }
        return id
    }

    /// Throws if the service is read-only, or if the client may not write.
    /// - Parameters:
    ///   - method: the method of the same operation in REST.
    ///   - route: its resource.
    private func checkWrite(_ method: String, on route: ServiceRoute, _ call: ServiceCall) throws(FilmRefusal)
    {
        guard configuration.isWritable else {
            throw .methodNotAllowed(method, isReadOnly: true, allowed: route.methods(isWritable: false))
        }
        try gate.checkWrite(call, route.role(method))
    }

    // Addresses of posters are relative to the service's own address, /soap.

    private static func film(_ film: StoredFilm, _ name: String) -> String {
        let tag = ServiceCall.entityTag(film.revision, .json).dropFirst().dropLast()
        return SoapFilm.xml(FilmRendering(toRoot: "").whole(film), tag: String(tag), as: name)
    }

    private static func catalogue(_ page: FilmQuery.Page, named name: String?) -> String {
        String(decoding: FilmRendering(.xml, toRoot: "").list(page.films, name: name), as: UTF8.self)
    }

    /// The film in a message.
    private static func film(
        _ content: XMLElement, keepsNull: Bool = true
    ) throws(FilmRefusal) -> FilmDocument {
        guard let film = content.child("film") else {
            throw .invalid("film", "is missing; send one with the members of a film")
        }
        return SoapFilm.document(film, keepsNull: keepsNull)
    }

    /// The id of the film that a message names.
    private static func id(_ content: XMLElement) throws(FilmError) -> String {
        let id = content.value("id") ?? ""
        try FilmOperations.check(id: id)
        return id
    }

    /// The condition that a film has the entity tag of an earlier answer; without a tag any film will do.
    private static func condition(
        _ tag: String?
    ) throws(FilmRefusal) -> (StoredFilm) throws(FilmError) -> Void {
        guard let tag else { return { _ in } }
        guard tag.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }) else {
            throw FilmRefusal.invalid("tag", "must be that of an earlier answer")
        }
        return { film throws(FilmError) in
            try ServiceCall.checkConditions(["If-Match": "\"\(tag)\""], tags: ServiceCall.entityTags(film))
        }
    }

    private static func text(_ name: String, _ text: String) -> String {
        "<\(name)>\(XMLText.escaped(text))</\(name)>"
    }
}

extension XMLElement {
    /// The text of a child; nil if it is absent, empty or `xsi:nil`.
    fileprivate func value(_ name: String) -> String? {
        guard let child = child(name), !child.isNil, !child.text.isEmpty else { return nil }
        return child.text
    }
}

extension FilmServiceConfiguration {
    /// The address under which a client reaches the service, with a slash at its end: the public one with the host in
    /// Host, else that host over HTTP.
    fileprivate func address(_ head: RequestHead) -> String {
        let host = head.fields["host"] ?? "localhost"
        return publicAddress(host)?.text ?? "http://\(host)/"
    }
}
