"""The HTML pages of a library, of a catalogue's file and of a folder: lists, films, forms, signing in, and errors."""

from cases import Ask, Site, ask, file_part, get, multipart, page, part, send
from normal import IN_MEMORY
from running import TOKEN
from samples import pictures

FORM = "application/x-www-form-urlencoded"
HTML = {"Accept": "text/html"}
# The files of the program's own sample are written when the service starts. Their tags have that time.
UNPACKED = [(r'"([0-9a-f]+)-[0-9a-f]+-[0-9a-f]+-<inode>', r'"\1-<time>-<inode>')]
# As Firefox sends it.
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
ODD = "%C3%9Cn%C3%AF%20c%C3%B6d%C3%A9%20%2B%26%3F%23"


def sites(place):
    return [
        Site("sample", sample(), serve="films.db"),
        Site("small", small(), serve="small.db"),
        Site("writable", writable(), serve="writable.db --writable --token-file tokens", library="small.db"),
        Site("signing in", signing_in(), serve="'signing in.db' --writable --token-file tokens", library="small.db"),
        Site("forms", forms(), serve="forms.db --writable --token-file tokens", library="small.db"),
        Site("trusting", trusting(), serve="trusting.db --writable --trust-local", library="small.db"),
        Site("catalogue", folder(), serve="small.json", rules=IN_MEMORY),
        Site("folder", folder(), serve="shelf", rules=IN_MEMORY),
        Site("program's own sample", own_sample(), serve="", folder="home", rules=[*IN_MEMORY, *UNPACKED]),
    ]


def sample():
    return [
        page("the wall", "/"),
        page("the wall by another name", "/index.html"),
        page("all films", "/films"),
        page("all films by the ending", "/films.html"),
        get("as a browser asks", "/films?limit=2", Accept=BROWSER),
        page("two films", "/films?limit=2"),
        page("two films, compressed", "/films?limit=2", Accept_Encoding="gzip"),
        page("the last films", "/films?limit=2&after=WyJjYXRhbG9ndWUiLDM0XQ"),
        page("films before", "/films?limit=2&before=WyJjYXRhbG9ndWUiLDEwXQ"),
        *[page(f"by {sort}", f"/films?limit=2&sort={sort}") for sort in ["score", "year", "title"]],
        page("titles from a letter on", "/films?sort=title&limit=2&after=WyJ0aXRsZSIsIm0iLCIiXQ"),
        page("a search", "/films?q=murnau"),
        page("a search in pages", "/films?q=the&limit=1&sort=year"),
        page("a search without a hit", "/films?q=%3Cscript%3Ealert(1)%3C/script%3E"),
        page("a wrong limit", "/films?limit=0"),
        page("top 3", "/films/top3"),
        page("top 2", "/films/top/2.html"),
        page("a film", "/films/metropolis"),
        page("a film by the ending", "/films/metropolis.html"),
        page("a film, compressed", "/films/metropolis", Accept_Encoding="gzip"),
        page("a film with a letter that is encoded", "/films/haxan"),
        page("no film", "/films/nothing"),
        page("no film, compressed", "/films/nothing", Accept_Encoding="gzip"),
        page("nothing", "/nothing"),
        page("nothing below a folder", "/a/b/c"),
        page("a bad target", "/films/%zz"),
        page("another host", "/films", Host="evil.example"),
        page("no vote", "/films/metropolis/ratings/anna"),
        page("the form to add", "/add"),
        page("the form to edit", "/films/metropolis/edit"),
        page("the page to sign in", "/login"),
        page("not modified", "/films/metropolis", If_None_Match='"1000000000001.html.31qomquwtdjay"'),
        page("another tag", "/films/metropolis", If_Match='"x"'),
        page("the stylesheet that the pages name", "/films/style/31qomquwtdjay.css"),
        page("the stylesheet, compressed", "/films/style/31qomquwtdjay.css", Accept_Encoding="gzip"),
        page("the icon", "/films/style/icon.svg"),
        ask("HEAD", "head of a film", "/films/metropolis", **HTML),
        ask("HEAD", "head of no film", "/films/nothing", **HTML),
        send("POST", "a form without a library to write", "/add", "title=A", FORM, **HTML),
    ]


def small():
    ids = ["plain", "nosferatu", "hostile", "members", "voted", "elsewhere", "script", "el-camion", ODD]
    return [
        page("the wall", "/"),
        *[page(f"the film {id}", f"/films/{id}") for id in ids],
        page("a search for markup", "/films?q=script"),
        page("by score", "/films?sort=score"),
    ]


def writable():
    """Pages of a library that others may write."""
    film = "/films/nosferatu"
    return [
        page("the wall", "/"),
        page("a film", film),
        page("no film", "/films/nothing"),
        *[page(f"the form {form} without a session", target) for form, target in forms_of(film).items()],
        send("POST", "the form to add without a session, sent", "/add", "title=A", FORM, **HTML),
        *[Ask(f"the form {form} with a session", target, fields=HTML, signs_in=True)
          for form, target in forms_of(film).items()],
        Ask("the form to edit no film", "/films/nothing/edit", fields=HTML, signs_in=True),
        Ask("the form to edit a hostile film", "/films/hostile/edit", fields=HTML, signs_in=True),
        Ask("the form to edit a film with other members", "/films/members/edit", fields=HTML, signs_in=True),
        Ask("the form to edit a film with an odd id", f"/films/{ODD}/edit", fields=HTML, signs_in=True),
        Ask("the form to remove a film with votes", "/films/voted/remove", fields=HTML, signs_in=True),
        Ask("the wall with a session", "/", fields=HTML, signs_in=True),
        Ask("a film with a session", film, fields=HTML, signs_in=True),
        Ask("no film with a session", "/films/nothing", fields=HTML, signs_in=True),
        Ask("a search with a session", "/films?q=nothing", fields=HTML, signs_in=True),
        page("a film with a session that is none", film, Cookie="marquee-80=abc.def"),
        page("a film with the token", film, Authorization=f"Bearer {TOKEN}"),
        get("a form as JSON", "/add", Accept="application/json"),
    ]


def forms_of(film):
    return {"to add": "/add", "to edit": f"{film}/edit", "to rate": f"{film}/rate", "to remove": f"{film}/remove"}


def signing_in():
    def sent(name, body, type=FORM, **fields):
        return send("POST", name, "/login", body, type, **HTML, **fields)

    return [
        page("the page", "/login"),
        page("the page with a destination", "/login?to=films/plain/edit"),
        *[page(f"the page with the destination {to}", f"/login?to={to}")
          for to in ["//evil.example/", "login", "films/%22%3E"]],
        page("by the address", f"/login?token={TOKEN}"),
        page("by the address, to a film", f"/login?token={TOKEN}&to=films/plain"),
        page("by the address, to another site", f"/login?token={TOKEN}&to=//evil.example"),
        page("by the address with a wrong token", "/login?token=wrong"),
        page("by the address with spaces around", f"/login?token=%20{TOKEN}%20"),
        sent("by the form", f"token={TOKEN}&to=films/plain"),
        sent("by the form with a wrong token", "token=wrong&to=films/plain"),
        sent("by the form without a token", "to=add"),
        sent("by the form from another site", f"token={TOKEN}", Origin="http://evil.example"),
        sent("by a form in parts", multipart(part("token", TOKEN)), "multipart/form-data; boundary=b"),
        sent("by JSON", "{}", "application/json"),
        sent("by a form that is too long", "token=" + "x" * 9000),
        sent("signing out", "out=1"),
        Ask("the page with a session", "/login", fields=HTML, signs_in=True),
        Ask("signing out with a session", "/login", "POST", b"out=1", {"Content-Type": FORM} | HTML, signs_in=True),
        ask("PUT", "another method", "/login", Content_Length="0", **HTML),
    ]


def forms():
    def sent(name, target, body, type=FORM, **fields):
        data = body if isinstance(body, bytes) else body.encode("utf-8")
        return Ask(name, target, "POST", data, {"Content-Type": type} | HTML | fields, signs_in=True)

    # The revision of the films as they were imported.
    first = "revision=1000000000001"
    parts = "multipart/form-data; boundary=b"
    poster = file_part("film[poster]", "p.png", "image/png", pictures()["small.png"])
    no_picture = file_part("film[poster]", "p.png", "image/png", b"no picture")
    return [
        sent("add", "/add", "film[title]=Added&film[year]=1925&film[genres]=A,+B,,C&film[overview]=one%0D%0Atwo"),
        get("the added film", "/films/added-1925"),
        sent("add nothing", "/add", "film[title]="),
        sent("add with faults", "/add",
            "film[title]=&film[year]=soon&film[score]=11&film[minutes]=-1&film[director]=%3Cb%3E"),
        sent("add with an id", "/add", "film[title]=With+an+id&film[id]=own&film[other]=x"),
        sent("add with a poster", "/add", multipart(part("film[title]", "With a poster"), poster), parts),
        sent("add with a poster that is none", "/add", multipart(part("film[title]", "A"), no_picture), parts),
        sent("add markup", "/add", "film[title]=%3Ci%3EMarkup%3C/i%3E+%26&film[overview]=%3C/textarea%3E"),
        sent("add by JSON", "/add", "{}", "application/json"),
        sent("add by an empty form", "/add", ""),
        sent("add by a broken form", "/add", "a=%zz"),
        sent("add by parts without an end", "/add", "--b\r\n", parts),
        sent("add from another site", "/add", "film[title]=A", Origin="http://evil.example"),
        sent("add from its own page", "/add", "film[title]=Own+page", Origin="http://localhost"),
        sent("edit", "/films/nosferatu/edit", f"{first}&film[title]=Nosferatu!&film[year]=1922&film[director]="
             "&film[originalTitle]=Nosferatu,+eine+Symphonie+des+Grauens&film[minutes]=94&film[country]=Germany"
             "&film[genres]=Horror,+Fantasy&film[overview]=A+shadow%0D%0Aclimbs+the+stairs.&film[score]=8.2"),
        get("the edited film", "/films/nosferatu"),
        sent("edit an older form", "/films/nosferatu/edit", f"{first}&film[title]=Other"),
        sent("edit without a revision", "/films/nosferatu/edit", "film[title]=Other"),
        sent("edit with faults", "/films/plain/edit", f"{first}&film[title]=&film[year]=1"),
        sent("edit a poster", "/films/plain/edit",
             multipart(part("revision", "1000000000001"), part("film[title]", "Plain"), poster), parts),
        sent("edit no film", "/films/nothing/edit", f"{first}&film[title]=A"),
        sent("rate", "/films/members/rate", "rater=Zo%C3%AB&value=7.5"),
        sent("rate again", "/films/members/rate", "rater=Zo%C3%AB&value=8"),
        sent("rate too high", "/films/members/rate", "rater=Bert&value=11"),
        sent("rate without a number", "/films/members/rate", "rater=Bert&value="),
        sent("rate without a name", "/films/members/rate", "rater=&value=3"),
        sent("rate no film", "/films/nothing/rate", "rater=a&value=3"),
        page("the rated film", "/films/members"),
        sent("remove an older form", "/films/members/remove", first),
        sent("remove", "/films/hostile/remove", first),
        sent("remove again", "/films/hostile/remove", first),
        page("the removed film", "/films/hostile"),
        page("the wall at the end", "/"),
    ]


def trusting():
    return [
        page("the wall", "/"),
        page("a film", "/films/nosferatu"),
        page("the form to add", "/add"),
        page("the page to sign in", "/login"),
        send("POST", "add", "/add", "film[title]=Trusted", FORM, **HTML),
        send("POST", "add from another site", "/add", "film[title]=A", FORM, Sec_Fetch_Site="cross-site", **HTML),
        page("forwarded", "/", X_Forwarded_For="192.0.2.1"),
    ]


def folder():
    return [
        page("the root", "/"),
        page("its page", "/index.html"),
        page("films", "/films"),
        page("two films by title", "/films?limit=2&sort=title"),
        page("a search", "/films?q=other"),
        page("top 3", "/films/top3"),
        page("a film", "/films/other"),
        page("another film", "/films/shelved"),
        page("no film", "/films/nothing"),
        page("no file", "/nothing.html"),
        page("the form to add", "/add"),
        page("the page to sign in", "/login"),
    ]


def own_sample():
    return [
        page("the root", "/"),
        page("a film", "/films/metropolis"),
        get("a poster", "/posters/metropolis.jpg"),
        get("a poster at a size", "/films/metropolis/poster/w92"),
        get("the films", "/movies.json"),
    ]
