package import HTTPSemantics
package import HTTPServer

extension PictureServer {
    /// Whether a path is a picture's address.
    package static func serves(_ segments: [String]) -> Bool { segments.first == PictureAddress.folder }

    /// Answers a request like an earlier one, if memory still has the picture. Nothing is parsed again.
    package func answerKnown(_ head: RequestHead) -> HTTPResponse? {
        guard let address = presentRuling.addresses.value(for: KnownAddress.key(head.target)),
            ["GET", "HEAD"].contains(head.method),
            address.recipe.expiry.map({ clock.seconds < $0 }) ?? true,
            let picture = pictureInMemory(address)
        else { return nil }
        return answer(.success(picture), address, to: head)
    }

    /// Answers a request for `/image/{signature}/{recipe}/{source}`.
    package func admit(_ head: RequestHead, _ target: RequestTarget, from peer: Peer) -> Admission {
        do throws(PictureRefusal) {
            let address = try PictureAddress(segments: target.segments)
            if let refusal = Self.refusal(ofMethod: head) { return .answer(refusal) }
            // Caches in front would treat every query as another key.
            guard target.query.fields.isEmpty else { throw .malformedAddress }
            let ruling = presentRuling
            try ruling.rules.check(address, now: clock.seconds)
            // A listed source needs no signature even if its address is signed, so the rules for listed sources apply.
            // Ignored: the error only says that the source is not listed.
            let isSigned = address.signature != nil && (try? ruling.rules.check(address.source)) == nil
            let known = KnownAddress(address.recipe, of: .address(address.source, isSigned: isSigned))
            return serve(known, head, from: peer) { known.keep(in: ruling.addresses, as: head.target) }
        } catch {
            return .answer(answer(PictureFailure(error), to: head))
        }
    }

    /// Answers a request for a picture of a source that the service chooses itself: a film's poster.
    package func admit(
        _ head: RequestHead, _ recipe: String, of original: PictureOriginal, from peer: Peer
    ) -> Admission {
        do throws(PictureRefusal) {
            let recipe = try PictureRefusal.recipe(recipe)
            if let refusal = Self.refusal(ofMethod: head) { return .answer(refusal) }
            let rules = rules
            try rules.check(recipe, now: clock.seconds)
            if case .address(let source, _) = original { try rules.check(source) }
            return serve(KnownAddress(recipe, of: original), head, from: peer)
        } catch {
            return .answer(answer(PictureFailure(error), to: head))
        }
    }

    /// - Parameter remember: called when there is a picture.
    private func serve(
        _ address: KnownAddress, _ head: RequestHead, from peer: Peer,
        remember: @escaping @Sendable () -> Void = {}
    ) -> Admission {
        if let picture = pictureInMemory(address) {
            remember()
            return .answer(answer(.success(picture), address, to: head))
        }
        let client = client(head, peer)
        if let refusal = refusalAtOnce(address, client: client) { return .answer(answer(refusal, to: head)) }
        return .later { [self] pending in
            let leave = start(address, for: client) { [self] outcome in
                if case .success = outcome { remember() }
                pending.send(answer(outcome, address, to: head))
            }
            pending.whenAbandoned(leave)
        }
    }

    private static func refusal(ofMethod head: RequestHead) -> HTTPResponse? {
        if ["GET", "HEAD"].contains(head.method) { return nil }
        var response =
            head.method == "OPTIONS"
            ? HTTPResponse(status: .noContent) : .plain(.methodNotAllowed, "pictures can only be read")
        response.fields["Allow"] = "GET, HEAD, OPTIONS"
        response.route = .picture
        return response
    }

    // MARK: Answers

    private func answer(_ outcome: PictureOutcome, _ address: KnownAddress, to head: RequestHead)
        -> HTTPResponse
    {
        do throws(PictureFailure) {
            var response = try content(outcome.get(), address, to: head)
            response.route = .picture
            return response
        } catch {
            return answer(error, to: head)
        }
    }

    private func content(
        _ served: ServedPicture, _ address: KnownAddress, to head: RequestHead
    ) throws(PictureFailure) -> HTTPResponse {
        let picture = served.picture
        var fields: HeaderFields = [
            "ETag": picture.entityTag, "Cache-Control": control(address, served.record),
            // The max-age is the remaining freshness, counted from now.
            "Age": "0", "Cache-Status": served.status.value,
        ]
        let conditions = Preconditions(head.fields, isRead: true, entityTag: picture.entityTag)
        switch conditions.outcome {
        case .notModified: return HTTPResponse(status: .notModified, fields: fields)
        case .failed:
            throw PictureFailure(.preconditionFailed, "the picture has another tag than If-Match names")
        case .proceed: break
        }
        // Pictures come from strangers: browsers must not run a script hidden in one.
        fields["Content-Security-Policy"] = "default-src 'none'; sandbox"
        fields["Content-Type"] = picture.format.mediaType
        let count = picture.bytes.count
        return HTTPResponse(status: .ok, fields: fields, body: .bytes(picture.bytes)).part(
            for: head, conditions
        ) {
            answer(PictureFailure(.rangeNotSatisfiable, "the picture has \(count) bytes"), to: head)
        }
    }

    private func control(_ address: KnownAddress, _ record: SourceRecord) -> String {
        let recipe = address.recipe
        if case .stored(let stored) = address.original, recipe.tag == nil, recipe.expiry == nil {
            return stored.cacheControl
        }
        return PictureFreshness.control(of: recipe, record, now: clock.seconds)
    }

    private func answer(_ failure: PictureFailure, to head: RequestHead) -> HTTPResponse {
        if let rule = failure.rule { counters.countRefusal(by: rule) }
        // The operator finds the request in the log.
        let isOurs = failure.status == .internalServerError && !head.id.isEmpty
        let problem = ProblemDetails(
            failure.status, failure.detail + (isOurs ? " (request \(head.id))" : ""))
        var response = HTTPResponse(status: failure.status, body: .bytes(Array(problem.json.utf8)))
        response.route = .picture
        response.fields["Content-Type"] = ProblemDetails.jsonType
        response.fields["Cache-Control"] = PictureFreshness.control(ofFailure: failure.status)
        if let retryAfter = failure.retryAfter { response.fields["Retry-After"] = "\(retryAfter)" }
        return response
    }
}
