import TestSupport

/// A fault of the shared store.
enum StoreFault: String, CaseIterable {
    case none, dead, blackHole, silent, trickling, full, turnedBits, otherKeys, truncated, wrongSeal

    var name: String {
        switch self {
        case .none: "that works"
        case .dead: "that is not running"
        case .blackHole: "whose address drops packets"
        case .silent: "that never answers"
        case .trickling: "that never finishes its answers"
        case .full: "that refuses all writes"
        case .turnedBits: "with a changed bit in each value"
        case .otherKeys: "with another key's value under each key"
        case .truncated: "with truncated values"
        case .wrongSeal: "with values sealed by another key"
        }
    }

    /// Whether the store has values before the measurement.
    var isFilled: Bool { [.turnedBits, .otherKeys, .truncated, .wrongSeal].contains(self) }

    /// What the values become.
    func damage(_ objects: [String: [UInt8]]) -> [String: [UInt8]] {
        switch self {
        case .turnedBits:
            return objects.mapValues { value in
                var value = value
                if !value.isEmpty { value[value.count / 2] ^= 1 }
                return value
            }
        case .otherKeys:
            let keys = objects.keys.sorted()
            let values = keys.dropFirst() + keys.prefix(1)
            return Dictionary(uniqueKeysWithValues: zip(keys, values.map { objects[$0] ?? [] }))
        case .truncated: return objects.mapValues { Array($0.dropLast(1 + $0.count / 3)) }
        default: return objects
        }
    }
}

/// A store with a fault, on a port of this machine.
struct FaultyStore {
    let address: String
    /// Its values and its answers; nil for a store that is no server of ours.
    let server: StoreServer?
    private let owner: AnyObject?

    init(_ fault: StoreFault) throws {
        func scripted(_ steps: [ScriptedOrigin.Step]) throws -> (String, AnyObject) {
            let origin = try ScriptedOrigin(steps)
            return ("http://127.0.0.1:\(origin.port)/posters", origin)
        }
        var server: StoreServer?
        switch fault {
        case .dead:
            let port = try ClosedPort()
            (address, owner) = ("http://127.0.0.1:\(port.port)/posters", port)
        case .blackHole:
            // TEST-NET-1 (RFC 5737) leads nowhere.
            (address, owner) = ("http://192.0.2.1/posters", nil)
        case .silent: (address, owner) = try scripted([.readHead, .awaitClose])
        case .trickling:
            (address, owner) = try scripted([
                .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\nabc"), .awaitClose,
            ])
        default:
            let store = try StoreServer()
            if fault == .full { store.refusals.change { $0["PUT"] = "507 Insufficient Storage" } }
            server = store
            (address, owner) = (store.address, store)
        }
        self.server = server
    }
}
