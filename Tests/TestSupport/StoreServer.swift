import SystemSupport

/// A store on a loopback port that takes GET, PUT and DELETE, as a shared tier wants it. It stops when the object goes.
public final class StoreServer: Sendable {
    /// What the store has, by path.
    public let objects = Shared<[String: [UInt8]]>([:])
    /// What it answers to a method in place of what it would, such as `507 Insufficient Storage`.
    public let refusals = Shared<[String: String]>([:])
    private let origin: ScriptedOrigin

    /// An empty store.
    /// - Parameter puts: the first write waits for it; nil, the default, for none.
    public init(puts: Gate? = nil) throws {
        let (objects, refusals) = (objects, refusals)
        let answer = ScriptedOrigin.Step.reply { head, body in
            Self.answer(head, body, objects, refusals)
        }
        origin = try ScriptedOrigin { connection in
            guard let puts, connection == 0 else { return [.forever([answer])] }
            return [.readHead, .readBody, .wait(puts), .replyToLast(answer), .forever([answer])]
        }
    }

    /// Where it listens.
    public var port: UInt16 { origin.port }
    /// The address of the store.
    public var address: String { "http://127.0.0.1:\(port)/posters" }
    /// The head of every request, in the order they came.
    public var heads: [String] { origin.heads }
    /// How many requests have come.
    public var requests: Tally { origin.requests }
    /// How many requests of a method have come.
    public func count(_ method: String) -> Int { heads.count { $0.hasPrefix(method + " ") } }

    private static func answer(
        _ head: String, _ body: [UInt8], _ objects: Shared<[String: [UInt8]]>,
        _ refusals: Shared<[String: String]>
    ) -> [UInt8] {
        let words = head.prefix { $0 != "\r\n" }.split(separator: " ").map(String.init)
        let (method, path) = (words[0], words[1])
        var (status, value) = ("204 No Content", [UInt8]())
        if let refusal = refusals.value[method] {
            status = refusal
        } else if method == "PUT" {
            objects.change { $0[path] = body }
        } else if method == "DELETE" {
            if objects.change({ $0.removeValue(forKey: path) }) == nil { status = "404 Not Found" }
        } else if let object = objects.value[path] {
            (status, value) = ("200 OK", object)
        } else {
            status = "404 Not Found"
        }
        return Array("HTTP/1.1 \(status)\r\nContent-Length: \(value.count)\r\n\r\n".utf8) + value
    }
}
