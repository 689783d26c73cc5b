"""The service in SOAP: the description, each operation, and faults."""

from cases import Ask, Site, ask, get, send
from normal import IN_MEMORY
from running import TOKEN
from samples import HOSTILE

ENVELOPE = "http://schemas.xmlsoap.org/soap/envelope/"
XSI = "http://www.w3.org/2001/XMLSchema-instance"
WRITER = {"Authorization": f"Bearer {TOKEN}"}
TYPE = "text/xml; charset=utf-8"


def sites(place):
    return [
        Site("reading", reading(), serve="films.db"),
        Site("writing", writing(), serve="writing.db --writable --token-file tokens", library="small.db", fields=WRITER),
        Site(
            "without token", without_token(), serve="'without token.db' --writable --token-file tokens", library="small.db"),
        Site("read-only", without_token(), serve="small.db"),
        Site("messages", messages(), serve="small.db"),
        Site("folder", folder(), serve="shelf", rules=IN_MEMORY),
    ]


def envelope(content, header=""):
    body = f"<soap:Body>{content}</soap:Body>"
    return f'<soap:Envelope xmlns:soap="{ENVELOPE}" xmlns:xsi="{XSI}">{header}{body}</soap:Envelope>'


def operation(name, content=""):
    return envelope(f'<{name} xmlns="urn:marquee:films">{content}</{name}>')


def call(case, name, content="", **fields):
    """One operation."""
    return send("POST", case, "/soap", operation(name, content), TYPE, SOAPAction=f'"urn:marquee:films/{name}"', **fields)


def message(case, body, type=TYPE, **fields):
    """Any body."""
    return send("POST", case, "/soap", body, type, **fields)


def escaped(text):
    # A control character cannot be in XML.
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("\x1b", "")


def reading():
    return [
        get("the description", "/soap?wsdl"),
        get("the description in capitals", "/soap?WSDL"),
        get("the description, compressed", "/soap?wsdl", Accept_Encoding="gzip"),
        get("the description by a port", "/soap?wsdl", Host="localhost:8080"),
        get("not the description", "/soap"),
        get("not the description, in XML", "/soap", Accept="application/xml"),
        get("not the description, for a browser", "/soap", Accept="text/html"),
        get("another query", "/soap?xsd"),
        ask("HEAD", "head of the description", "/soap?wsdl"),
        ask("OPTIONS", "options", "/soap"),
        call("the three best", "Top3AsXml"),
        call("films", "FilmsAsXml"),
        call("two films", "FilmsAsXml", "<limit>2</limit>"),
        call("the next films", "FilmsAsXml", "<limit>2</limit><after>WyJjYXRhbG9ndWUiLDJd</after>"),
        call("a search", "FilmsAsXml", "<q>murnau</q><sort>title</sort>"),
        call("a search without a hit", "FilmsAsXml", "<q>&lt;nothing&gt;</q>"),
        call("films with empty parts", "FilmsAsXml", '<limit xsi:nil="true"/><after/><q/><sort/>'),
        call("a wrong limit", "FilmsAsXml", "<limit>0</limit>"),
        call("a wrong order", "FilmsAsXml", "<sort>x</sort>"),
        call("a wrong cursor", "FilmsAsXml", "<after>x</after>"),
        call("a film", "Film", "<id>metropolis</id>"),
        call("a film, compressed", "Film", "<id>metropolis</id>", Accept_Encoding="gzip"),
        call("a film with space around its id", "Film", "<id> metropolis </id>"),
        call("no film", "Film", "<id>nothing</id>"),
        call("no id", "Film"),
        call("an empty id", "Film", "<id/>"),
        call("a wrong id", "Film", "<id>top3</id>"),
        call("an id with a slash", "Film", "<id>a/b</id>"),
    ]


def writing():
    genres = "<genres><genre>Drama</genre><genre>Fantasy</genre></genres>"
    film = f"<title>Faust</title><year>1926</year>{genres}<score>8.5</score>"
    return [
        call("a film", "Film", "<id>members</id>"),
        call("a hostile film", "Film", "<id>hostile</id>"),
        call("a film with votes", "Film", "<id>voted</id>"),
        call("a film with a poster", "Film", "<id>nosferatu</id>"),
        call("a film with an odd id", "Film", "<id>Ünï cödé +&amp;?#</id>"),
        call("all films", "FilmsAsXml", "<sort>title</sort>"),
        call("add", "Add", f"<film>{film}</film>"),
        call("add again", "Add", f"<film>{film}</film>"),
        call("add with an id", "Add", f"<film><id>faust</id>{film}</film>"),
        call("add a taken id", "Add", "<film><id>faust</id><title>Other</title></film>"),
        call("add other members", "Add",
            '<film><title>Members</title><member name="seen">true</member><member name="last seen">2026</member>'
             '<member name="n">{"a":[1,null]}</member><member>x</member><year xsi:nil="true"/><director/></film>'),
        call("add hostile text", "Add", f"<film><title>{escaped(HOSTILE)}</title></film>"),
        call("add without a film", "Add"),
        call("add without a title", "Add", "<film><year>1920</year></film>"),
        call("add with faults", "Add", "<film><title>A</title><year>soon</year><score>11</score><minutes>0</minutes></film>"),
        call("add with numbers of XML", "Add", "<film><title>Numbers</title><score>7.50E0</score><year> 1920 </year></film>"),
        call("rate", "Rate", "<id>plain</id><rater>Zoë</rater><value>8.5</value>"),
        call("rate again", "Rate", "<id>plain</id><rater>Zoë</rater><value>7</value>"),
        call("rate too high", "Rate", "<id>plain</id><rater>Zoë</rater><value>11</value>"),
        call("rate with text", "Rate", "<id>plain</id><rater>Zoë</rater><value>good</value>"),
        call("rate without a value", "Rate", "<id>plain</id><rater>Zoë</rater>"),
        call("rate without a rater", "Rate", "<id>plain</id><value>1</value>"),
        call("rate no film", "Rate", "<id>nothing</id><rater>a</rater><value>1</value>"),
        call("take a vote back", "Rate", '<id>plain</id><rater>Zoë</rater><value xsi:nil="true"/>'),
        call("take no vote back", "Rate", '<id>plain</id><rater>Zoë</rater><value xsi:nil="1"/>'),
        call("edit", "Edit", "<id>plain</id><film><year>1920</year><director>D</director></film>"),
        call("edit and remove members", "Edit", '<id>plain</id><film><year xsi:nil="true"/><director/></film>'),
        call("edit with an old tag", "Edit", '<id>plain</id><film tag="1.json"><year>1920</year></film>'),
        call("edit with a first tag", "Edit", '<id>voted</id><film tag="1000000000001.json"><year>1920</year></film>'),
        call("edit with a wrong tag", "Edit", '<id>plain</id><film tag="a b"><year>1920</year></film>'),
        call("edit with faults", "Edit", "<id>plain</id><film><year>1</year><score>x</score></film>"),
        call("edit the id", "Edit", "<id>plain</id><film><id>other</id></film>"),
        call("edit the title away", "Edit", "<id>plain</id><film><title/></film>"),
        call("edit nothing", "Edit", "<id>plain</id><film/>"),
        call("edit without a film", "Edit", "<id>plain</id>"),
        call("edit no film", "Edit", "<id>nothing</id><film><year>1920</year></film>"),
        call("remove with an old tag", "Remove", "<id>plain</id><tag>1.json</tag>"),
        call("remove with a tag", "Remove", "<id>elsewhere</id><tag>1000000000001.json</tag>"),
        call("remove", "Remove", "<id>plain</id>"),
        call("remove again", "Remove", "<id>plain</id>"),
        call("remove without an id", "Remove"),
        call("from another site", "Remove", "<id>members</id>", Origin="http://evil.example"),
        call("all films at the end", "FilmsAsXml"),
    ]


def without_token():
    return [
        call("read", "Film", "<id>plain</id>"),
        call("add", "Add", "<film><title>A</title></film>"),
        call("add, answered in XML", "Add", "<film><title>A</title></film>", Accept="application/xml"),
        call("edit", "Edit", "<id>plain</id><film><year>1920</year></film>"),
        call("rate", "Rate", "<id>plain</id><rater>a</rater><value>1</value>"),
        call("remove", "Remove", "<id>plain</id>"),
        call("with a wrong token", "Remove", "<id>plain</id>", Authorization="Bearer wrong"),
    ]


def messages():
    """Bodies that are no messages, and messages that are not understood."""
    film = '<Film xmlns="urn:marquee:films"><id>plain</id></Film>'
    block = '<t:Trace xmlns:t="urn:example" soap:mustUnderstand="{}"{}>7</t:Trace>'

    def header(value, actor=""):
        return f"<soap:Header>{block.format(value, actor)}</soap:Header>"

    later = "http://www.w3.org/2003/05/soap-envelope"
    return [
        message("without an action", envelope(film)),
        message("with another action", envelope(film), SOAPAction='"urn:marquee:films/Remove"'),
        message("with a declaration", '<?xml version="1.0" encoding="utf-8"?>\n' + envelope(film)),
        message("with a header", envelope(film, header(0))),
        message("with a header to understand", envelope(film, header(1))),
        message("with a header to understand, as a word", envelope(film, header("true"))),
        message("with a header for another", envelope(film, header(1, ' soap:actor="urn:other"'))),
        message("with a header for the next", envelope(film, header(1,
            ' soap:actor="http://schemas.xmlsoap.org/soap/actor/next"'))),
        message("with an empty header", envelope(film, "<soap:Header/>")),
        message("of a later version", envelope(film).replace(ENVELOPE, later), "application/soap+xml"),
        message("of a later version as text", envelope(film).replace(ENVELOPE, later)),
        message("with another envelope", "<Envelope/>"),
        message("with another element", "<films/>"),
        message("without a body", f'<soap:Envelope xmlns:soap="{ENVELOPE}"/>'),
        message("with an empty body", envelope("")),
        message("with two elements", envelope(film + film)),
        message("with an unknown operation", operation("Buy")),
        message("with another namespace", envelope('<Film xmlns="urn:other"><id>plain</id></Film>')),
        message("without a namespace", envelope("<Film><id>plain</id></Film>")),
        message("with an undeclared prefix", envelope("<x:Film/>")),
        message("nothing", ""),
        message("cut off", envelope(film)[:-20]),
        message("not well-formed", envelope("<Film>")),
        message("with a document type", '<!DOCTYPE a [<!ENTITY b "c">]>' + envelope(film)),
        message("with an unknown entity", envelope("<Film>&nbsp;</Film>")),
        message("not UTF-8", envelope(film).encode() + b"\xff"),
        message("deep", operation("Film", "<a>" * 300 + "</a>" * 300)),
        message("JSON", '{"id":"plain"}'),
        message("as JSON", envelope(film), "application/json"),
        message("as JSON, in XML", envelope(film), "application/json", Accept="application/xml"),
        message("without a type", envelope(film), None),
        message("in another character set", envelope(film), "text/xml; charset=iso-8859-1"),
        message("compressed", envelope(film), Content_Encoding="gzip"),
        message("for another host", envelope(film), Host="evil.example"),
        Ask("without a length", "/soap", "POST", fields={"Content-Type": TYPE}),
    ]


def folder():
    return [
        get("the description", "/soap?wsdl"),
        call("the three best", "Top3AsXml"),
        call("a film", "Film", "<id>shelved</id>"),
        call("no film", "Film", "<id>nothing</id>"),
        call("add", "Add", "<film><title>A</title></film>"),
    ]
