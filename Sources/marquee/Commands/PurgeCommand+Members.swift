import HTTPSemantics
import LazyImages
import PictureServer

/// Purging services that run: the members of a fleet, or one alone.
extension PurgeCommand {
    /// What one member did: the sources that it knew, and why it did not do all.
    private struct Reply: Sendable {
        var known: Set<PictureSource> = []
        var failure: (any Error)?
    }

    /// Has every member forget the sources, all members at once.
    ///
    /// Several members are asked twice. With a store between them, once is not enough:
    ///
    /// 1. A forgets the picture, and removes it from the store.
    /// 2. A client asks B, which still has it.
    /// 3. B writes to the store what it fetched just before.
    /// 4. A client asks A, which reads the old picture from the store.
    /// 5. B forgets the picture, and removes it from the store. A keeps the old one.
    ///
    /// After the first round no member holds the old picture but by step 4. The second round ends that.
    static func purge(
        _ sources: [PictureSource], from members: [String], _ session: Session
    ) async -> ExitStatus {
        let opened = session.makeLoader(keepsFiles: false)
        var replies = await round(sources, members, opened)
        if members.count > 1 {
            let answering = members.filter { replies[$0]?.failure == nil }
            for (member, reply) in await round(sources, answering, opened) {
                replies[member]?.failure = reply.failure
                replies[member]?.known.formUnion(reply.known)
            }
        }
        await opened.close()
        let failed = members.filter { replies[$0]?.failure != nil }
        for member in failed {
            guard let failure = replies[member]?.failure else { continue }
            session.output.failure(
                "\(ImageLoadingError.advised(failure)); \(member) may still have the pictures: purge them again when it runs"
            )
        }
        let known = replies.values.reduce(into: Set<PictureSource>()) { $0.formUnion($1.known) }
        guard failed.count < members.count else { return .nothingDone }
        let status = status(of: sources, known: known, session)
        return failed.isEmpty ? status : .someFailed
    }

    private static func round(
        _ sources: [PictureSource], _ members: [String], _ opened: OpenLoader
    ) async -> [String: Reply] {
        await withTaskGroup(of: (String, Reply).self) { group in
            for member in members {
                group.addTask { (member, await reply(of: member, to: sources, opened)) }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    /// Has one member forget the sources, up to the first failure: a member that is down is not waited for again.
    private static func reply(
        of member: String, to sources: [PictureSource], _ opened: OpenLoader
    ) async -> Reply {
        var reply = Reply()
        do {
            for source in sources where try await remove(source, from: member, opened) {
                reply.known.insert(source)
            }
        } catch {
            reply.failure = error
        }
        return reply
    }

    private static func remove(
        _ source: PictureSource, from member: String, _ opened: OpenLoader
    ) async throws -> Bool {
        let address = "http://\(member)/sources/" + Base64URL.encode(source.text.utf8)
        let response = try await Uploader(opened.loader).upload(try UploadRequest(address, .delete))
        switch response.status {
        case 204: return true
        case 404: return false
        default: throw ServiceProblem(response.status, response.body, from: "http://\(member)/").failure
        }
    }
}
