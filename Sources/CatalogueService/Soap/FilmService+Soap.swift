import FilmLibrary
import HTTPSemantics
import HTTPServer
import MovieCatalogue

/// Films in SOAP 1.1. An operation becomes the REST request with the same meaning. So both give the same answers, and
/// the same clients may write.
extension FilmService {
    /// The description: `GET /soap?wsdl`. Clients differ in the case of these letters.
    func soapDescription(_ call: FilmCall) throws(FilmRefusal) -> HTTPResponse {
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
    func soap(_ call: FilmCall, _ request: HTTPRequest) -> HTTPResponse {
        do {
            try SoapEnvelope.checkType(call.fields)
            let message = try SoapEnvelope(parsing: try request.body.bytes())
            let result = try result(of: message.content, request)
            return call.coding.applied(
                to: HTTPResponse(
                    status: .ok,
                    fields: ["Content-Type": SoapEnvelope.contentType, "Cache-Control": "no-store"],
                    body: .bytes(SoapEnvelope.message(result))))
        } catch let fault as SoapFault {
            return fault.response
        } catch let refusal as FilmRefusal {
            switch refusal.problem.status {
            // HTTP's own statuses report a missing right to write, or a body that is not SOAP.
            case .unauthorized, .forbidden, .unsupportedMediaType:
                return refusal.response(to: call.head)
            default: return SoapFault(refusal).response
            }
        } catch {
            report(error)
            return SoapFault(FilmRefusal(failure: error, request: call.head.id)).response
        }
    }

    private func result(of content: XMLElement, _ request: HTTPRequest) throws -> String {
        guard content.namespace == SoapOperation.namespace,
            let operation = SoapOperation(rawValue: content.localName)
        else {
            throw SoapFault.client(
                "unknown operation {\(content.namespace)}\(content.localName); /soap?wsdl lists the operations"
            )
        }
        let answer = try perform(operation, content, request)
        let name = operation.rawValue + "Response"
        return "<\(name) xmlns=\"\(SoapOperation.namespace)\">\(answer)</\(name)>"
    }

    private func perform(
        _ operation: SoapOperation, _ content: XMLElement, _ request: HTTPRequest
    ) throws -> String {
        let name = operation.resultName
        switch operation {
        case .top3AsXml: return Self.text(name, try send("GET", "/films/top3.xml", request).text)
        case .filmsAsXml:
            let query = ["limit", "after", "q", "sort"].compactMap { name in
                content.value(name).map { "\(name)=\(PercentEncoding.encoded($0))" }
            }
            let page = try send("GET", "/films.xml?" + query.joined(separator: "&"), request)
            return Self.text(name, page.text) + (Self.cursor(page).map { Self.text("next", $0) } ?? "")
        case .film: return try film(try send("GET", try Self.path(content), request), name)
        case .add:
            let film = try Self.film(content, keepsNull: false)
            return try self.film(try send("POST", "/films.json", request, film), name)
        case .edit:
            let tag = content.child("film")?.attribute("tag")
            let film = try Self.film(content)
            return try self.film(
                try send("PATCH", try Self.path(content), request, film, tag: tag), name)
        case .rate:
            try rate(content, request)
            return try film(try send("GET", try Self.path(content), request), name)
        case .remove:
            let tag = content.value("tag")
            _ = try send("DELETE", try Self.path(content), request, tag: tag)
            return ""
        }
    }

    private func rate(_ content: XMLElement, _ request: HTTPRequest) throws {
        let rater = content.value("rater") ?? ""
        guard FilmTarget.isRater(rater) else { throw FilmTarget.raterFault }
        let path = try Self.path(content, "/ratings/" + PercentEncoding.encoded(rater))
        guard let value = content.child("value") else {
            throw FilmRefusal.invalid("value", "is missing; send a number from 0 to 10, or xsi:nil")
        }
        guard !value.isNil else {
            _ = try send("DELETE", path, request)
            return
        }
        var vote = FilmDocument()
        vote["value"] = SoapFilm.number(value.text)
        _ = try send("PUT", path, request, vote)
    }

    /// Sends the equivalent REST request.
    /// - Parameters:
    ///   - request: the request of the message, which identifies the client.
    ///   - tag: the entity tag that the film must have.
    private func send(
        _ method: String, _ path: String, _ request: HTTPRequest, _ body: FilmDocument? = nil,
        tag: String? = nil
    ) throws -> HTTPResponse {
        var text = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"
        if let tag {
            guard tag.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }) else {
                throw FilmRefusal.invalid("tag", "must be that of an earlier answer")
            }
            text += "\r\nIf-Match: \"\(tag)\""
        }
        var call = try FilmCall(
            try RequestHead(parsing: text.utf8), request.peer, try RequestTarget(path), configuration)
        // Addresses of posters are relative to the service's own address, /soap.
        call.target.toRoot = ""
        if !call.isRead { try gate.checkWrite(request.head.fields, from: request.peer) }
        return try content(call, body.map { .bytes(Array($0.json().utf8)) } ?? .none)
    }

    private func film(_ answer: HTTPResponse, _ name: String) throws -> String {
        let film = try FilmDocument(json: try JSONText(parsing: answer.bytes), allowsDuplicates: true)
        let tag = answer.fields["etag"]?.dropFirst().dropLast()
        return SoapFilm.xml(film, tag: tag.map(String.init), as: name)
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

    /// The path of the film that a message names, with a part below it.
    private static func path(_ content: XMLElement, _ below: String = "") throws(FilmRefusal) -> String {
        let id = content.value("id") ?? ""
        if let fault = FilmID.fault(id) { throw .invalid("id", "must be \(fault)") }
        return "/films/\(PercentEncoding.encoded(id))\(below).json"
    }

    private static func text(_ name: String, _ text: String) -> String {
        "<\(name)>\(XMLText.escaped(text))</\(name)>"
    }

    /// The cursor of a list's next page; nil on the last page.
    private static func cursor(_ page: HTTPResponse) -> String? {
        guard let link = LinkField.target("next", in: page.fields),
            // Ignored: a list without a readable link has no next page.
            let query = try? FormFields(parsing: link.utf8.dropFirst())
        else { return nil }
        return query.values(of: "after").first
    }
}

extension XMLElement {
    /// The text of a child; nil if it is absent, empty or `xsi:nil`.
    fileprivate func value(_ name: String) -> String? {
        guard let child = child(name), !child.isNil, !child.text.isEmpty else { return nil }
        return child.text
    }
}

extension HTTPResponse {
    fileprivate var bytes: [UInt8] { if case .bytes(let bytes) = body { bytes } else { [] } }
    fileprivate var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension FilmServiceConfiguration {
    /// The address under which a client reaches the service, with a slash at its end: the public one with the host in
    /// Host, else that host over HTTP.
    fileprivate func address(_ head: RequestHead) -> String {
        let host = head.fields["host"] ?? "localhost"
        return publicAddress(host)?.text ?? "http://\(host)/"
    }
}
