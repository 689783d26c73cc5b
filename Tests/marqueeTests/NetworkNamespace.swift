import Foundation
import TestSupport

/// A separate network namespace, in which a shell takes commands while a program runs.
struct NetworkNamespace {
    static let isPossible = Shell.output("unshare -rn ip link add eth7 type veth 2>&1") == ""
    static let requirement = "needs unshare -rn and ip link add type veth (util-linux and iproute2)"

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The arguments of `/usr/bin/unshare` that run a program in the namespace. `program` is in shell syntax.
    func arguments(_ program: String) -> [String] {
        // The shell reads lines of commands from a named pipe.
        let script = """
            mkfifo \(folder.file("commands"))
            # A cable whose ends have no addresses: addrgenmode keeps those of IPv6 away.
            pair() {
                ip link add eth$1 type veth peer name far$1
                for name in far$1 eth$1; do ip link set $name addrgenmode none; ip link set $name up; done
            }
            # It must hold none of the program's streams, or who reads those never sees their end.
            ( while read -r line; do eval "$line"; done <>\(folder.file("commands")) ) >/dev/null 2>&1 </dev/null &
            commands=$!
            \(program)
            status=$?
            kill $commands
            exit $status
            """
        return ["-rn", "sh", "-c", script]
    }

    /// Runs a line of commands in the namespace.
    func run(_ commands: String) throws {
        let pipe = try FileHandle(forWritingTo: URL(filePath: folder.file("commands")))
        try pipe.write(contentsOf: Data((commands + "\n").utf8))
    }
}
