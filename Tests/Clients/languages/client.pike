// The job with Protocols.HTTP.
int main(int count, array(string) arguments) {
    [string name, string base, string body, string text, string out] = arguments[1..];
    object made = Protocols.HTTP.do_method("POST", base + "/downloads", 0, (["content-type": "application/json"]), 0, body);
    string id = Standards.JSON.decode(made->data())->id;
    while (!has_value(Protocols.HTTP.get_url_data(base + "/downloads?q=" + text), "\"state\":\"completed\"")) sleep(0.1);
    Stdio.write_file(out, Protocols.HTTP.get_url_data(base + "/downloads/" + id + "/file/" + text));
    return 0;
}
