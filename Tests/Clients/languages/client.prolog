% The job with library(http/http_open).
:- use_module(library(http/http_open)).
:- use_module(library(http/json)).
:- use_module(library(readutil)).
:- initialization(main, main).

main([_, Base, Body, Text, Out]) :-
    atom_concat(Base, '/downloads', Downloads),
    http_open(Downloads, In, [post(string('application/json', Body))]),
    json_read_dict(In, Made),
    close(In),
    atomic_list_concat([Downloads, /, Made.id, '/events'], EventsURL),
    http_open(EventsURL, Events, []),
    follow(Events),
    close(Events, [force(true)]),
    atomic_list_concat([Downloads, /, Made.id, '/file/', Text], FileURL),
    http_open(FileURL, Bytes, [encoding(octet)]),
    setup_call_cleanup(open(Out, write, File, [type(binary)]), copy_stream_data(Bytes, File), close(File)).

follow(Events) :-
    read_line_to_string(Events, Line),
    (   sub_string(Line, _, _, _, "\"state\":\"completed\"") -> true ; follow(Events) ).
