<?php
// The job with PHP's streams, or its curl extension.
[, $name, $base, $body, $text, $out] = $argv;
$type = 'Content-Type: application/json';
if ($name == 'php-streams') {
    $context = stream_context_create(['http' => ['method' => 'POST', 'header' => $type, 'content' => $body]]);
    $id = json_decode(file_get_contents("$base/downloads", false, $context))->id;
    $events = fopen("$base/downloads/$id/events", 'r');
    while (!str_contains(fgets($events), '"state":"completed"'));
    copy("$base/downloads/$id/file/$text", $out);
} else {
    function call($url, $options = []) {
        $curl = curl_init($url);
        curl_setopt_array($curl, [CURLOPT_RETURNTRANSFER => true] + $options);
        return curl_exec($curl);
    }
    $id = json_decode(call("$base/downloads", [CURLOPT_POSTFIELDS => $body, CURLOPT_HTTPHEADER => [$type]]))->id;
    call("$base/downloads/$id/events", [
        CURLOPT_WRITEFUNCTION => fn($curl, $bytes) => str_contains($bytes, '"state":"completed"') ? 0 : strlen($bytes),
    ]);
    file_put_contents($out, call("$base/downloads/$id/file/$text"));
}
