import FilmSources
import Films
import HTTPSemantics
import ImageCodecs

/// The description of the service for programs that make clients and tests from it: `/openapi.json`, in OpenAPI 3.1. Its
/// paths and methods are those of the table of resources, and its film is that of the table of members. SOAP has a
/// description of its own, the WSDL.
struct ServiceDescription {
    /// Whether the methods that write are served.
    let isWritable: Bool
    /// Whether reading needs a token.
    let isPrivate: Bool
    /// The listed sizes of posters; empty if there is only the original one.
    let sizes: [String]
    /// The relative path from the description's folder to the root.
    let toRoot: String

    /// The described paths, each with the route of an example.
    private var paths: [(template: String, route: ServiceRoute)] {
        let films: [(String, ServiceRoute)] = [
            ("/films", .list), ("/films/top/{count}", .top(1)), ("/films/{id}", .film("id")),
            ("/films/{id}/poster", .poster(of: "id")),
            ("/films/{id}/ratings/{rater}", .rating(of: "id", by: "rater")),
        ]
        return films
            + (sizes.isEmpty ? [] : [("/films/{id}/poster/{size}", .picture("size", of: "id"))])
    }

    var text: String {
        let described = paths.map { path in JSONText.Member(name: path.template, value: item(path)) }
        let security: JSONText = isPrivate ? [["token": []]] : []
        let document: JSONText = [
            "openapi": "3.1.0",
            "info": [
                "title": "Films", "version": "1",
                "description": """
                Films and their posters. Answers with films are JSON, XML or a page, as Accept asks, or by .json, \
                .xml or .html after the path. Films are also sent as XML or as a form. A list that \
                    goes on has the address of its next page in Link. Pictures of other sources have \
                    signed addresses.
                """,
            ],
            "servers": [["url": JSONText(toRoot.isEmpty ? "." : toRoot)]], "security": security,
            "paths": JSONText(members: described),
            "components": [
                "securitySchemes": ["token": ["type": "http", "scheme": "bearer"]],
                "schemas": [
                    "Film": Self.film(FilmMember.allCases.filter { $0.definition.rule != .lenient }),
                    // An id is in the path, and the library's own members are ignored.
                    "NewFilm": Self.film(
                        FilmMember.allCases.filter { $0 != .id && $0.definition.rule == .checked }),
                    "Rating": Self.rating, "Vote": Self.vote, "Problem": Self.problem,
                ],
            ],
        ]
        return document.text + "\n"
    }

    // MARK: Paths

    private func item(_ path: (template: String, route: ServiceRoute)) -> JSONText {
        let names = path.template.split(separator: "/").filter { $0.hasPrefix("{") }.map {
            String($0.dropFirst().dropLast())
        }
        var members = [
            JSONText.Member(
                name: "parameters", value: JSONText(elements: names.map { parameter($0, in: "path") }))
        ]
        for method in path.route.methods(isWritable: isWritable) where !["HEAD", "OPTIONS"].contains(method) {
            members.append(.init(name: method.lowercased(), value: operation(method, path.route)))
        }
        return JSONText(members: members)
    }

    private func operation(_ method: String, _ route: ServiceRoute) -> JSONText {
        let parameters = method == "GET" && route == .list ? query : []
        let content = body(method, route)
        var members: [JSONText.Member] = [
            .init(name: "parameters", value: JSONText(elements: parameters)),
            .init(name: "responses", value: responses(method, route)),
        ]
        if method != "GET" { members.append(.init(name: "security", value: [["token": []]])) }
        if let content {
            members.append(.init(name: "requestBody", value: ["required": true, "content": content]))
        }
        return JSONText(members: members)
    }

    /// What a method takes; nil for nothing.
    private func body(_ method: String, _ route: ServiceRoute) -> JSONText? {
        switch (method, route) {
        case ("GET", _), ("DELETE", _): nil
        case (_, .poster):
            JSONText(
                members: ImageDecoders.standard.mediaTypes.map { type in
                    .init(name: type, value: ["schema": ["type": "string", "format": "binary"]])
                })
        case (_, .rating): ["application/json": ["schema": Self.reference("Vote")]]
        case ("PATCH", _): ["application/merge-patch+json": ["schema": ["type": "object"]]]
        default: ["application/json": ["schema": Self.reference("NewFilm")]]
        }
    }

    private func responses(_ method: String, _ route: ServiceRoute) -> JSONText {
        let content: JSONText =
            switch route {
            case .poster, .picture: ["image/*": [:]]
            case .rating: Self.content("Rating", route.resource.reads)
            case .list where method == "GET", .top: Self.content(nil, route.resource.reads)
            default: Self.content("Film", method == "GET" ? route.resource.reads : route.resource.answers)
            }
        let answer: JSONText = ["description": "the answer", "content": content]
        let empty: JSONText = ["description": "done, without a body"]
        let problem: JSONText = [
            "description": "what is wrong",
            "content": [
                "application/problem+json": ["schema": Self.reference("Problem")],
                "application/problem+xml": [:], "text/html": [:], "text/plain": [:],
            ],
        ]
        let done: [(String, JSONText)] =
            switch (method, route) {
            case ("DELETE", _): [("204", empty)]
            case (_, .poster) where method == "PUT": [("201", empty), ("204", empty)]
            case (_, .poster):
                [("200", answer), ("206", answer), ("302", ["description": "it is elsewhere"])]
            case (_, .picture): [("200", answer), ("206", answer)]
            case ("POST", _): [("201", answer)]
            case ("PUT", _): [("200", answer), ("201", answer)]
            default: [("200", answer)]
            }
        let all = done + [("default", problem)]
        return JSONText(members: all.map { JSONText.Member(name: $0.0, value: $0.1) })
    }

    /// Bodies in these formats.
    /// - Parameter schema: that of JSON; nil for films under a name.
    private static func content(_ schema: String?, _ formats: [FilmFormat]) -> JSONText {
        let films: JSONText = [
            "type": "object", "required": ["movies"],
            "properties": [
                "name": ["type": "string"], "movies": ["type": "array", "items": reference("Film")],
            ],
        ]
        return JSONText(
            members: formats.map { format in
                let type = String(format.mediaType.prefix { $0 != ";" })
                let described: JSONText = ["schema": schema.map(reference) ?? films]
                return .init(name: type, value: format == .json ? described : [:])
            })
    }

    private static func reference(_ schema: String) -> JSONText { ["$ref": "#/components/schemas/\(schema)"] }

    // MARK: Parameters

    private var query: [JSONText] { ["limit", "sort", "q"].map { parameter($0, in: "query") } }

    private func parameter(_ name: String, in place: String) -> JSONText {
        let schema: JSONText =
            switch name {
            case "count": ["type": "integer", "minimum": 1, "maximum": JSONText(ServiceRoute.maximumTop)]
            case "limit":
                ["type": "integer", "minimum": 1, "maximum": JSONText(FilmService.maximumPageLimit)]
            case "q": ["type": "string"]
            case "sort":
                [
                    "type": "string",
                    "enum": JSONText(elements: FilmQuery.Sort.allCases.map { JSONText($0.rawValue) }),
                ]
            case "size": ["type": "string", "enum": JSONText(elements: sizes.map { JSONText($0) })]
            default:
                [
                    "type": "string", "minLength": 1, "maxLength": JSONText(FilmID.maximumBytes),
                    "pattern": "^[^/\\x00-\\x1f\\x7f-\\x9f]+$",
                ]
            }
        return [
            "name": JSONText(name), "in": JSONText(place), "required": JSONText(place == "path"),
            "schema": schema,
        ]
    }

    // MARK: Schemas

    private static func film(_ members: [FilmMember]) -> JSONText {
        [
            "type": "object", "required": ["title"],
            "properties": JSONText(members: members.map { .init(name: $0.name, value: schema(of: $0.kind)) }),
        ]
    }

    /// The schema of a member. Null stands for an absent one.
    private static func schema(of kind: FilmMember.Kind) -> JSONText {
        switch kind {
        case .required: ["type": "string", "minLength": 1]
        case .text, .paragraphs, .address: ["type": ["string", "null"]]
        case .whole(let range):
            [
                "type": ["integer", "null"], "minimum": JSONText(range.lowerBound),
                "maximum": JSONText(range.upperBound),
            ]
        case .number(let range):
            [
                "type": ["number", "null"], "minimum": JSONText(range.lowerBound),
                "maximum": JSONText(range.upperBound),
            ]
        case .texts: ["type": ["array", "null"], "items": ["type": "string"]]
        }
    }

    private static let score: JSONText = [
        "type": "number", "minimum": JSONText(Movie.scores.lowerBound),
        "maximum": JSONText(Movie.scores.upperBound),
    ]

    private static let rating: JSONText = [
        "type": "object", "required": ["value"],
        "properties": [
            "value": score, "rating": score,
            "votes": ["type": "integer", "minimum": 0],
        ],
    ]

    private static let vote: JSONText = [
        "type": "object", "required": ["value"], "properties": ["value": score],
    ]

    private static let problem: JSONText = [
        "type": "object", "required": ["title", "status"],
        "properties": [
            "type": ["type": "string"], "title": ["type": "string"], "status": ["type": "integer"],
            "detail": ["type": "string"],
            "errors": [
                "type": "array",
                "items": [
                    "type": "object",
                    "properties": ["pointer": ["type": "string"], "detail": ["type": "string"]],
                ],
            ],
        ],
    ]
}
