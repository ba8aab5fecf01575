#!/usr/bin/perl
# A receiver of Patchbay's completion webhook, in Perl 5 with what comes with it.
#   PATCHBAY_WEBHOOK_SECRET=whsec_… PORT=3000 perl receiver.pl
use strict;
use warnings;
use Digest::SHA qw(hmac_sha256_hex);
use IO::Socket::INET;
use JSON::PP qw(decode_json);

my $secret = $ENV{PATCHBAY_WEBHOOK_SECRET} or die "PATCHBAY_WEBHOOK_SECRET is not set\n";
my %seen;    # in production: a table with a unique column
$| = 1;

sub is_genuine {
    my ($headers, $body) = @_;
    my $timestamp = $headers->{'x-svc-webhook-ts'} // '';
    return 0 unless $timestamp =~ /\A[0-9]{1,12}\z/;
    my $age = time - $timestamp;
    return 0 if $age > 300 || $age < -60;
    # The bytes as they came: parsed and printed again, they would be others.
    my $expected = hmac_sha256_hex("$timestamp.$body", $secret);
    return grep { same($headers->{$_} // '', $expected) }
        ('x-svc-webhook-signature', 'x-svc-webhook-signature-previous');
}

# In a time that does not depend on where they differ.
sub same {
    my ($given, $expected) = @_;
    return 0 unless length $given == length $expected;
    my $difference = 0;
    $difference |= ord(substr $given, $_, 1) ^ ord(substr $expected, $_, 1) for 0 .. length($expected) - 1;
    return $difference == 0;
}

sub status_of {
    my ($method, $headers, $body) = @_;
    return 400 unless $method eq 'POST' && is_genuine($headers, $body);
    unless ($seen{ $headers->{'x-svc-webhook-id'} }++) {
        my $event = decode_json($body);
        print "$event->{type} $event->{job_id}\n";    # now fetch GET /v1/transcription/jobs/{job_id}
    }
    return 204;
}

# One request after another is enough for a sketch; behind a web server you have `is_genuine` left to write.
my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $ENV{PORT} // 3000, Listen => 16, ReuseAddr => 1)
    or die "cannot listen: $!\n";
print 'port ', $server->sockport, "\n";
while (my $client = $server->accept) {
    my ($method) = (<$client> // '') =~ /\A([A-Z]+) /;
    my %headers;
    while (defined(my $line = <$client>)) {
        last if $line =~ /\A\r?\n\z/;
        $headers{ lc $1 } = $2 if $line =~ /\A([^:]+):\s*(.*?)\r?\n\z/;
    }
    my $body = '';
    my $length = $headers{'content-length'} // 0;
    read $client, $body, $length if $length =~ /\A[0-9]{1,5}\z/;
    my $status = status_of($method // '', \%headers, $body);
    print $client "HTTP/1.1 $status \r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    close $client;
}
