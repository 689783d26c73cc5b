<?php
// A SOAP client of the service that PHP makes of the WSDL: php films.php http://127.0.0.1:8080/soap?wsdl
// Adds a film to a library with at least three films, changes it, and removes it again. Prints one line per
// step.
ini_set('soap.wsdl_cache_enabled', '0');

function check(string $step, bool $holds): void
{
    echo $holds ? "ok     $step\n" : "failed $step\n";
    if (!$holds) {
        exit(1);
    }
}

function fault(callable $call): ?SoapFault
{
    try {
        $call();
    } catch (SoapFault $fault) {
        return $fault;
    }
    return null;
}

// Without an XML extension: php-soap does not include one.
function films(string $catalogue): int
{
    return substr_count($catalogue, '<movie ');
}

$client = new SoapClient($argv[1], ['connection_timeout' => 10]);
check('describe: ' . count($client->__getFunctions()) . ' operations', count($client->__getFunctions()) === 7);

$page = $client->FilmsAsXml(['limit' => 2]);
check('list', films($page->FilmsAsXmlResult) === 2);
$second = $client->FilmsAsXml(['limit' => 2, 'after' => $page->next]);
check('next page', $second->FilmsAsXmlResult !== $page->FilmsAsXmlResult);
$top = $client->Top3AsXml()->Top3AsXmlResult;
check('top 3', str_contains($top, '<catalogue') && films($top) === 3);

$hostile = "</Title>]]><script>alert(1)</script> & \"'\u{200D}\u{202E}\nEl Camión";
$film = $client->Add(['film' => [
    'id' => 'php-film', 'title' => $hostile, 'year' => 1922, 'genres' => ['genre' => ['Drama', 'Crime']],
    'score' => 7.5, 'member' => [['_' => 'true', 'name' => 'last seen']],
]])->AddResult;
check('add', $film->title === $hostile && $film->year === 1922 && $film->genres->genre === ['Drama', 'Crime']);
check('another member', $film->member->name === 'last seen' && $film->member->_ === 'true');
$found = $client->FilmsAsXml(['q' => 'camion', 'sort' => 'title'])->FilmsAsXmlResult;
check('search', films($found) === 1 && str_contains($found, '&lt;script&gt;') && !str_contains($found, '<script>'));

$film = $client->Rate(['id' => 'php-film', 'rater' => 'Zoë', 'value' => 8.5])->RateResult;
check('rate', $film->rating === 8.5 && $film->votes === 1);
$film = $client->Rate(['id' => 'php-film', 'rater' => 'Zoë', 'value' => null])->RateResult;
check('take the vote back', !isset($film->votes));

$old = clone $film;
$film->title = 'Edited';
$film->score = null;
$film = $client->Edit(['id' => 'php-film', 'film' => $film])->EditResult;
check('edit', $film->title === 'Edited' && !isset($film->score) && $film->year === 1922);
$fault = fault(fn() => $client->Edit(['id' => 'php-film', 'film' => $old]));
check('an old film is a fault', (int) $fault?->detail->problem->status === 412);

$fault = fault(fn() => $client->Edit(['id' => 'php-film', 'film' => ['year' => 1, 'score' => 11]]));
check('wrong members are a fault', str_ends_with((string) $fault?->faultcode, 'Client'));
check(
    'it points at members',
    array_map(fn($error) => $error->pointer, $fault->detail->problem->errors->i) === ['/year', '/score']
);
$header = new SoapHeader('urn:example', 'Transaction', '5', true);
$fault = fault(fn() => $client->__soapCall('Film', [['id' => 'php-film']], [], [$header]));
check('a header that must be understood is a fault', str_ends_with((string) $fault?->faultcode, 'MustUnderstand'));
$later = new SoapClient($argv[1], ['soap_version' => SOAP_1_2, 'location' => explode('?', $argv[1])[0]]);
$fault = fault(fn() => $later->Film(['id' => 'php-film']));
check('SOAP 1.2 is a fault', $fault !== null && str_contains($fault->getMessage(), '1.1'));

$client->Remove(['id' => 'php-film']);
$fault = fault(fn() => $client->Film(['id' => 'php-film']));
check('remove', $fault?->getMessage() === 'there is no film "php-film"');
