"""A SOAP client of the service that zeep makes of the WSDL: python3 films.py http://127.0.0.1:8080/soap?wsdl

Adds a film to a library with at least three films, changes it, and removes it again. Prints one line per step."""

import sys
import urllib.request
import xml.etree.ElementTree as xml

import zeep
from lxml import etree


def check(step, holds):
    print(("ok     " if holds else "failed ") + step)
    if not holds:
        sys.exit(1)


def fault(call, **arguments):
    try:
        call(**arguments)
    except zeep.exceptions.Fault as error:
        return error
    return None


class Validation(zeep.Plugin):
    """Validates every message in both directions against the WSDL's schemas."""

    def __init__(self):
        self.schemas = {}
        self.messages = 0

    def read(self, document):
        for schema in document.iter("{http://www.w3.org/2001/XMLSchema}schema"):
            # As a separate document, with the prefixes that are declared around it.
            self.schemas[schema.get("targetNamespace")] = etree.XMLSchema(etree.fromstring(etree.tostring(schema)))

    def validate(self, envelope):
        content = envelope.find("{http://schemas.xmlsoap.org/soap/envelope/}Body")[0]
        for detail in content.iter("detail"):
            content = detail[0]
        content = etree.fromstring(etree.tostring(content))
        self.schemas[etree.QName(content).namespace].assertValid(content)
        self.messages += 1

    def ingress(self, envelope, http_headers, operation):
        self.validate(envelope)
        return envelope, http_headers

    def egress(self, envelope, http_headers, operation, binding_options):
        self.validate(envelope)
        return envelope, http_headers


address = sys.argv[1]
validation = Validation()
client = zeep.Client(address, settings=zeep.Settings(strict=True), plugins=[validation])
validation.read(etree.fromstring(urllib.request.urlopen(address).read()))
films = client.service
check("describe", len(client.service._operations) == 7)

page = films.FilmsAsXml(limit=2)
check("list", len(xml.fromstring(page.FilmsAsXmlResult.encode()).findall("movie")) == 2)
check("next page", films.FilmsAsXml(limit=2, after=page.next).FilmsAsXmlResult != page.FilmsAsXmlResult)
check("top 3", len(xml.fromstring(films.Top3AsXml().encode()).findall("movie")) == 3)

hostile = "</Title>]]><script>alert(1)</script> & \"'\u200d\u202e\nEl Camión"
film = films.Add(
    film={
        "id": "zeep-film",
        "title": hostile,
        "year": 1922,
        "genres": {"genre": ["Drama", "Crime"]},
        "score": 7.5,
        "member": [{"_value_1": "true", "name": "last seen"}],
    }
)
check("add", film.title == hostile and film.year == 1922 and film.genres.genre == ["Drama", "Crime"])
check("another member", film.member[0].name == "last seen" and film.member[0]._value_1 == "true")
found = films.FilmsAsXml(q="camion", sort="title").FilmsAsXmlResult
check("search", xml.fromstring(found.encode()).find("movie/title").text == hostile)

film = films.Rate(id="zeep-film", rater="Zoë", value=8.5)
check("rate", film.rating == 8.5 and film.votes == 1)
film = films.Rate(id="zeep-film", rater="Zoë", value=None)
check("take the vote back", film.votes is None)

old = films.Film(id="zeep-film")
film.title = "Edited"
film.score = zeep.xsd.Nil
film = films.Edit(id="zeep-film", film=film)
check("edit", film.title == "Edited" and film.score is None and film.year == 1922)
error = fault(films.Edit, id="zeep-film", film=old)
problem = "{urn:ietf:rfc:7807}"
check("an old film is a fault", error is not None and error.detail.find(f"{problem}problem/{problem}status").text == "412")

error = fault(films.Edit, id="zeep-film", film={"year": 1, "score": 11})
pointers = [pointer.text for pointer in error.detail.iter(problem + "pointer")] if error else []
check("wrong members are a fault", pointers == ["/year", "/score"] and error.code.endswith(":Client"))

films.Remove(id="zeep-film")
error = fault(films.Film, id="zeep-film")
check("remove", error is not None and error.message == 'there is no film "zeep-film"')
check(f"all messages are valid: {validation.messages}", validation.messages == 26)
