public import FoundationEssentials
import Glibc

/// An nginx on a loopback port, in a folder of its own. It stops when the object is released.
public final class NginxProcess: Sendable {
    /// Whether nginx is installed. Tests that need it skip with a message otherwise.
    public static let isInstalled = Shell.has("nginx")

    /// The port it listens on.
    public let port: UInt16
    let folder: TemporaryFolder
    let process: ServerProcess

    /// Starts an nginx that accepts bodies up to four gigabytes.
    /// - Parameter servers: the blocks for the port.
    public init(_ servers: (UInt16) -> String) async throws {
        folder = try TemporaryFolder()
        // Reserves the port until just before nginx takes it.
        var free: ClosedPort? = try ClosedPort()
        port = free?.port ?? 0
        let configuration = """
            daemon off; worker_processes 1; pid nginx.pid; error_log error.log;
            events { }
            http {
                access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
                uwsgi_temp_path uwsgi; scgi_temp_path scgi; client_max_body_size 4g;
                \(servers(port))
            }
            """
        try Data(configuration.utf8).write(to: URL(filePath: folder.file("nginx.conf")))
        free = nil
        process = try ServerProcess(
            """
            cd '\(folder.path)' &&
            exec nginx -p '\(folder.path)' -c nginx.conf -g 'user root;' >start.log 2>&1 </dev/null
            """, endedBy: SIGTERM)
        try await eventually { FileManager.default.fileExists(atPath: folder.file("nginx.pid")) }
    }
}

/// An nginx as an independent server of files. It accepts PUT and DELETE (RFC 4918) into its own folder.
public final class NginxDAV: Sendable {
    /// Whether nginx is installed, with its DAV module.
    public static let isInstalled = Shell.output("nginx -V 2>&1").contains("http_dav_module")

    /// The port it listens on.
    public var port: UInt16 { nginx.port }
    private let nginx: NginxProcess

    /// Starts a server that accepts bodies up to four gigabytes. `/sent-on/` redirects by 307 to the same name in
    /// `/kept/`. `/private/` needs the user `anna` with the password
    /// `secret`.
    public init() async throws {
        nginx = try await NginxProcess { port in
            """
            server {
                listen 127.0.0.1:\(port);
                location / { root files; dav_methods PUT DELETE; create_full_put_path on; }
                location ~ ^/sent-on/(.*)$ { return 307 /kept/$1; }
                location /private/ {
                    root files; dav_methods PUT DELETE; create_full_put_path on;
                    auth_basic films; auth_basic_user_file users;
                }
            }
            """
        }
        try Data("anna:{PLAIN}secret".utf8).write(to: URL(filePath: nginx.folder.file("users")))
        try FileManager.default.createDirectory(
            atPath: nginx.folder.file("files"), withIntermediateDirectories: true)
    }

    /// The URL of a path on the server.
    public func url(_ path: String) -> URL {
        guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else {
            preconditionFailure("\(path) is no path")
        }
        return url
    }

    /// The contents of the file at a path.
    public func contents(_ path: String) -> Data? { FileManager.default.contents(atPath: file(path)) }

    /// The file of a path.
    public func file(_ path: String) -> String { nginx.folder.file("files" + path) }

    /// Bodies that are incomplete or not yet moved into place.
    public var unfinishedBodies: [String] {
        // Ignored: without the folder there are no such bodies.
        (try? FileManager.default.contentsOfDirectory(atPath: nginx.folder.file("body"))) ?? []
    }

    /// The worker's peak memory so far, in KiB.
    public var peakMemory: Int {
        let children = Shell.output("cat /proc/\(nginx.process.id)/task/\(nginx.process.id)/children")
        return children.split(separator: " ").map { ProcessMemory.peak(of: String($0)) }.max() ?? 0
    }
}
