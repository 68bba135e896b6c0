# The job with Tcl's http.
package require http
lassign $argv name base body text out
set made [http::geturl $base/downloads -query [encoding convertto utf-8 $body] -type application/json]
regexp {^\{"id":"(\w+)"} [http::data $made] all id
while {![string match {*"state":"completed"*} [http::data [http::geturl $base/downloads?q=$text]]]} {after 100}
set file [open $out wb]
http::geturl $base/downloads/$id/file/$text -channel $file
close $file
