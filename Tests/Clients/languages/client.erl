%% The job with httpc.
main([_, Base, Body, Text, Out]) ->
    {ok, _} = application:ensure_all_started(inets),
    {ok, {_, _, Made}} = httpc:request(post, {Base ++ "/downloads", [], "application/json", unicode:characters_to_binary(Body)}, [], []),
    {match, [Id]} = re:run(Made, "\"id\":\"(\\w+)\"", [{capture, all_but_first, list}]),
    poll(Base ++ "/downloads?q=" ++ Text),
    {ok, {_, _, Bytes}} = httpc:request(get, {Base ++ "/downloads/" ++ Id ++ "/file/" ++ Text, []}, [], [{body_format, binary}]),
    ok = file:write_file(Out, Bytes).

poll(URL) ->
    {ok, {_, _, List}} = httpc:request(URL),
    case string:find(List, "\"state\":\"completed\"") of
        nomatch -> timer:sleep(100), poll(URL);
        _ -> ok
    end.
