"""The command line itself: the help, wrong words, the configuration file, the environment, completions, and services that do
not start."""

from cases import Do, Run, Site, runs

COMMANDS = [
    "list", "show", "fetch", "prewarm", "cache", "browse", "add", "edit", "rate", "remove", "import", "export", "upload",
    "serve", "picture", "sign", "token", "purge", "status", "jobs", "doctor", "completions", "man", "help", "version",
]


def sites(place):
    return [
        Site("help", help_texts(), is_independent=True),
        Site("usage", usage(), is_independent=True),
        Site("settings", settings(place)),
        Site("completions", completions(), is_independent=True),
        Site("serve", serving(place), is_independent=True),
    ]


def help_texts():
    return [
        *runs("""
            help
            --help
            -h
            version
            --version
            -V
            man
            help options
            help json
            help nothing
            help lst
        """),
        *[Run(f"help {name}", f"help {name}") for name in COMMANDS],
        *runs("""
            list --help
            fetch -h
            list --version
            help list show
            man x
            version x
        """),
    ]


def usage():
    return runs("""
        lst
        nothing
        metropolis
        'trip to the moon'
        list --nothing
        list --tpo 3
        list -x
        --nothing
        list --top
        list --json=yes
        list --top=x
        list --top 0
        list --top -1
        list --top 99999999999999999999
        list extra
        list small.json
        list --limit 0
        list --sort length
        list --year soon
        list --year 1930..1920
        list --search year:x
        list --plain --json
        list --color sometimes
        list --graphics tv
        list --catalogue ''
        list --cache-dir ''
        list --cache-size many
        list --cache-size 0
        list --memory-size 9E
        list --timeout 0
        list --timeout soon
        list --max-time 99999999
        list --max-bytes -1
        list --header nothing
        list --header 'A B: c'
        list --insecure-http http://a
        list --insecure-http 10.0.0.1:80
        list --cacert nothing.pem
        list --trust host
        list --trust host=nothing.pem
        list --trust host=sha256//abc
        list --min-tls host=1.1
        list --min-tls host
        list --cert host=nothing.pem
        list --key host=nothing.pem
        list --proxy nothing
        list --proxy ftp://a
        list --credentials-file nothing
        list --credentials-file small.json
        list --shared http://127.0.0.1/
        list --shared ftp://a --shared-key-file keys
        list --shared-key-file keys
        list --shared http://127.0.0.1/ --shared-key-file short-key
        list --shared http://127.0.0.1/ --shared-key-file nothing
        list --shared s3://bucket --shared-key-file keys
        show
        show --size 40 metropolis
        show --size 0x0 metropolis
        show --size 2000x10 metropolis
        fetch
        fetch --concurrency 0 metropolis
        fetch --concurrency 257 metropolis
        fetch --per-host x metropolis
        fetch --force --no-clobber metropolis
        fetch --include metropolis
        fetch --include http://127.0.0.1/a --json
        fetch -o - metropolis golem
        fetch -o - metropolis --json
        prewarm a b
        prewarm --sizes w92
        prewarm --name night
        prewarm --no-disk-cache
        prewarm --through nothing --sizes w92
        prewarm --through http://127.0.0.1
        prewarm --sign-key-file keys
        prewarm --through http://127.0.0.1 --sizes large
        prewarm --through http://127.0.0.1 --sizes w92 --offline
        prewarm --through http://127.0.0.1 --sizes w92 --sign-key-file keys
        cache
        cache nothing
        cache info --to 1M
        cache info --host a
        cache info --yes
        cache trim
        cache trim --to all
        cache info --no-disk-cache
        cache info verify
        browse
        add
        add --title ''
        add --title A --year soon
        add --title A --score 11
        add --title A --minutes x
        add --title A --id a/b
        add --title A --wire yaml
        add --title A --poster nothing.jpg
        add --title A
        edit
        edit plain
        edit plain --title ''
        edit plain --score x
        edit plain --wire xml --year 1920
        rate
        rate plain
        rate plain x
        rate plain 11
        rate plain 7 --remove
        rate plain 7 --as ''
        remove
        remove plain
        import
        import small.json
        import small.json a.db --replace --skip
        export
        export films.db --format yaml
        export films.db -o /
        export films.db -f -n
        upload
        upload http://127.0.0.1/
        upload a b c
        upload small.json http://127.0.0.1/ --method GET
        upload small.json http://127.0.0.1/ --type x
        upload http://127.0.0.1/ --form x
        upload http://127.0.0.1/ --form a=b --field f
        upload small.json http://127.0.0.1/ --recipe large
        upload small.json http://127.0.0.1/ --recipe w92 --type image/png
        upload small.json http://127.0.0.1/ --field ''
        upload small.json http://127.0.0.1/ --offline
        upload small.json http://example.org/
        picture
        picture a.jpg
        picture a.jpg w92
        picture a.jpg large -o b.jpg
        picture a.jpg w92 -o - --json
        picture a.jpg w92 -o b.jpg --workers 0
        sign
        sign http://127.0.0.1/a.jpg w92
        token 127.0.0.1:1 b
        purge
        purge nothing
        purge http://127.0.0.1/a.jpg --admin x
        status x
        jobs nothing
        jobs wait
        jobs wait a b
        completions
        completions tcsh
        doctor x
        -- list
        list -- --top
    """)


def settings(place):
    """The configuration file and the environment."""
    def with_file(name, words, **variables):
        return Run(f"{name}: {words}", words, variables={"XDG_CONFIG_HOME": place.path(name)} | variables)

    def write_credentials(place, _):
        file = place.folder / "credentials"
        file.write_text("# mine\n127.0.0.1 anna:secret\n")
        file.chmod(0o600)

    return [
        with_file("config-right", "list --plain"),
        with_file("config-right", "list --plain --catalogue two-films.json"),
        with_file("config-right", "list --plain --top 1", MARQUEE_CATALOGUE="two-films.json"),
        with_file("config-right", "cache info"),
        *[with_file(f"config-{kind}", words)
          for kind in ["wrong", "value", "flag", "empty"] for words in ["list --top 1", "cache path"]],
        with_file("config-wrong", "help list"),
        with_file("config-wrong", "completions fish"),
        Run("a catalogue in the environment", "list --plain", variables={"MARQUEE_CATALOGUE": "two-films.json"}),
        Run("a cache folder in the environment", "cache path", variables={"MARQUEE_CACHE_DIR": "another-cache"}),
        Run("an empty variable", "list --top 1 --plain", variables={"MARQUEE_CATALOGUE": ""}),
        Run("a port in the environment", "serve", variables={"MARQUEE_PORT": "many"}),
        Run("a flag in the environment", "serve", variables={"MARQUEE_WRITABLE": "perhaps"}),
        Run("two values in the environment", "serve", variables={"MARQUEE_SOURCE": "a.example,http://b"}),
        Run("wrong credentials in the environment", "list --top 1", variables={"MARQUEE_CREDENTIALS": "nothing"}),
        Do(write_credentials),
        Run("a file of credentials", "list --top 1 --plain --credentials-file credentials"),
        Run("no libcurl", "fetch http://127.0.0.1:1/a.jpg", variables={"MARQUEE_LIBCURL": "/nothing/libcurl.so"}),
        Run("no SQLite", "list --catalogue small.db", variables={"MARQUEE_LIBSQLITE": "/nothing/libsqlite3.so"}),
        Run("quiet", "list --top 1 --search zzzzzz --quiet"),
        Run("a home for the cache", "cache path", variables={"XDG_CACHE_HOME": ""}),
    ]


def completions():
    words = [
        "", "l", "list ''", "list --", "list --s", "list --sort ''", "list --sort=y", "show ''", "show golem", "show the-",
        "fetch --output ''", "cache ''", "cache trim --to ''", "export --format ''", "--catalogue ''", "--cache-dir ''",
        "help ''", "jobs ''", "edit --wire ''", "nothing ''", "show --catalogue two-films.json ''", "serve ''", "-",
    ]
    return [
        *runs("""
            completions bash
            completions zsh
            completions fish
        """),
        *[Run(f"words {word or 'nothing'}", f"completions words -- {word or repr('')}") for word in words],
    ]


def serving(place):
    """Ways in which `serve` does not start."""
    taken = place.origin.address.rpartition(":")[2]
    return [
        *runs(f"""
            serve a b
            serve --port x
            serve --port 65536
            serve --address nothing
            serve --address 192.0.2.1
            serve --address unix:films.sock --port 1
            serve --address unix:
            serve --address unix:{'x' * 108}
            serve --socket-mode 0660
            serve --socket-mode 999 --address unix:a
            serve --latency -1
            serve --bandwidth x
            serve --fail 2
            serve --fail x
            serve --event-threads 0
            serve --answer-memory x
            serve --public-url films
            serve --public-url 'https://a/?b'
            serve --writable
            serve small.json --writable
            serve shelf --writable
            serve small.db --writable --token-file nothing
            serve small.db --writable --token-file short-token
            serve small.db --writable --token-file wrong-token
            serve small.db --writable --token-file no-token
            serve small.db --writable --token-file tokens --trust-local
            serve small.db --writable --trust-local --address 0.0.0.0
            serve small.db --writable --trust-local --public-url https://a.example
            serve --source 'a b'
            serve --source '*.com'
            serve --source http://a
            serve --sizes large
            serve --sizes w92 --sizes-file sizes
            serve --sizes-file wrong-sizes
            serve --sizes-file no-sizes
            serve --sizes-file nothing
            serve --sign-key-file short-key
            serve --sign-key-file nothing
            serve --allow-private 10.0.0.1/99
            serve --workers 0
            serve --queue-time x
            serve --queue -1
            serve --decode-memory 0
            serve --admin 9090
            serve --admin localhost:9090
            serve --admin-host ops.example
            serve --admin 127.0.0.1:0 --admin-host a:1
            serve --drain x
            serve --log xml
            serve --per-client 0
            serve --trusted-proxy x
            serve --proxy http://127.0.0.1:1
            serve http://127.0.0.1:1/films
        """),
        Run("a port that is taken", f"serve --port {taken}"),
        Run("an admin port that is taken", f"serve --admin 127.0.0.1:{taken}"),
    ]
