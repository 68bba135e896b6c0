# The job with HTTP::Tiny or LWP.
use strict;
use warnings;
use HTTP::Tiny;
use JSON::PP;
my ($name, $base, $body, $text, $out) = @ARGV;
my ($post, $get);
if ($name eq 'HTTP::Tiny') {
    my $http = HTTP::Tiny->new;
    $post = sub { $http->post($_[0], {headers => {'Content-Type' => 'application/json'}, content => $_[1]})->{content} };
    $get = sub { $http->get($_[0])->{content} };
} else {
    require LWP::UserAgent;
    my $http = LWP::UserAgent->new;
    $post = sub { $http->post($_[0], 'Content-Type' => 'application/json', Content => $_[1])->content };
    $get = sub { $http->get($_[0])->content };
}
my $id = decode_json($post->("$base/downloads", $body))->{id};
if ($name eq 'HTTP::Tiny') {
    HTTP::Tiny->new->get("$base/downloads/$id/events", {data_callback => sub { die if $_[0] =~ /"state":"completed"/ }});
} else {
    select undef, undef, undef, 0.1 until $get->("$base/downloads?q=$text") =~ /"state":"completed"/;
}
open my $file, '>:raw', $out or die;
print $file $get->("$base/downloads/$id/file/$text");
