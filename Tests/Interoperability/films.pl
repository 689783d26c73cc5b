#!/usr/bin/perl
# A SOAP client of the service that Perl's SOAP::Lite makes of the WSDL:
# perl films.pl http://127.0.0.1:8080/soap?wsdl
# Adds a film to a library with at least three films, changes it, and removes it again. Prints one line per
# step.
use strict;
use warnings;
use SOAP::Lite;

sub check {
    my ($step, $holds) = @_;
    print $holds ? "ok     $step\n" : "failed $step\n";
    exit 1 unless $holds;
}

sub film { SOAP::Data->name(film => \SOAP::Data->value(@_)) }

my $fault;
my $noted = sub { $fault = ref $_[1] ? $_[1]->faultcode . ' ' . $_[1]->faultstring : 'no answer'; return };
my $films = SOAP::Lite->service($ARGV[0]);
$films->on_fault($noted);
# The generated client sends only simple values. Films are sent this way.
my $messages = SOAP::Lite->proxy($ARGV[0] =~ s/\?.*//r)->default_ns('urn:marquee:films')->on_fault($noted);

check('list', (() = $films->FilmsAsXml(2) =~ /<movie /g) == 2);
check('top 3', (() = $films->Top3AsXml() =~ /<movie /g) == 3);
my $hostile = '</title>]]><script>&"\'';
my $film = $messages->Add(film(SOAP::Data->name(id => 'perl-film'), SOAP::Data->name(title => $hostile)))->result;
check('add', $film->{title} eq $hostile);
check('rate', $films->Rate('perl-film', 'perl', 8.5)->{rating} == 8.5);
my $id = SOAP::Data->name(id => 'perl-film');
$film = $messages->Edit($id, film(SOAP::Data->name(year => 1922)))->result;
check('edit', $film->{year} == 1922 && $film->{title} eq $hostile);
$messages->Edit($id, film(SOAP::Data->name(year => 1)));
check('a wrong member is a fault', $fault eq 'soap:Client the year must be a number from 1800 to 9999');
$films->Remove('perl-film');
$films->Film('perl-film');
check('remove', $fault eq 'soap:Client there is no film "perl-film"');
