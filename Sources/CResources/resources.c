#include "CResources.h"

// Clang takes #embed in every mode, and warns outside C23.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char openapi_yaml[] = {
#embed "../../openapi.yaml"
};

static const unsigned char reference_html[] = {
#embed "../PawlService/Resources/reference.html"
};

static const unsigned char console_actions_js[] = {
#embed "../PawlService/Resources/console/actions.js"
};

static const unsigned char console_console_css[] = {
#embed "../PawlService/Resources/console/console.css"
};

static const unsigned char console_console_html[] = {
#embed "../PawlService/Resources/console/console.html"
};

static const unsigned char console_console_js[] = {
#embed "../PawlService/Resources/console/console.js"
};

static const unsigned char console_dialogs_js[] = {
#embed "../PawlService/Resources/console/dialogs.js"
};

static const unsigned char console_dom_js[] = {
#embed "../PawlService/Resources/console/dom.js"
};

static const unsigned char console_downloads_js[] = {
#embed "../PawlService/Resources/console/downloads.js"
};

static const unsigned char console_format_js[] = {
#embed "../PawlService/Resources/console/format.js"
};

static const unsigned char console_icon_svg[] = {
#embed "../PawlService/Resources/console/icon.svg"
};

static const unsigned char console_items_js[] = {
#embed "../PawlService/Resources/console/items.js"
};

static const unsigned char console_list_js[] = {
#embed "../PawlService/Resources/console/list.js"
};

static const unsigned char console_live_js[] = {
#embed "../PawlService/Resources/console/live.js"
};

static const unsigned char console_search_js[] = {
#embed "../PawlService/Resources/console/search.js"
};

static const unsigned char console_start_js[] = {
#embed "../PawlService/Resources/console/start.js"
};

static const unsigned char console_subscriptions_js[] = {
#embed "../PawlService/Resources/console/subscriptions.js"
};

static const unsigned char client_element_d_ts[] = {
#embed "../../Clients/JavaScript/element.d.ts"
};

static const unsigned char client_element_js[] = {
#embed "../../Clients/JavaScript/element.js"
};

static const unsigned char client_pawl_d_ts[] = {
#embed "../../Clients/JavaScript/pawl.d.ts"
};

static const unsigned char client_pawl_js[] = {
#embed "../../Clients/JavaScript/pawl.js"
};

#define RESOURCE(path, bytes) {path, bytes, sizeof bytes}

static const struct pawl_resource resources[] = {
    RESOURCE("openapi.yaml", openapi_yaml),
    RESOURCE("reference.html", reference_html),
    RESOURCE("console/actions.js", console_actions_js),
    RESOURCE("console/console.css", console_console_css),
    RESOURCE("console/console.html", console_console_html),
    RESOURCE("console/console.js", console_console_js),
    RESOURCE("console/dialogs.js", console_dialogs_js),
    RESOURCE("console/dom.js", console_dom_js),
    RESOURCE("console/downloads.js", console_downloads_js),
    RESOURCE("console/format.js", console_format_js),
    RESOURCE("console/icon.svg", console_icon_svg),
    RESOURCE("console/items.js", console_items_js),
    RESOURCE("console/list.js", console_list_js),
    RESOURCE("console/live.js", console_live_js),
    RESOURCE("console/search.js", console_search_js),
    RESOURCE("console/start.js", console_start_js),
    RESOURCE("console/subscriptions.js", console_subscriptions_js),
    RESOURCE("client/element.d.ts", client_element_d_ts),
    RESOURCE("client/element.js", client_element_js),
    RESOURCE("client/pawl.d.ts", client_pawl_d_ts),
    RESOURCE("client/pawl.js", client_pawl_js),
};

const struct pawl_resource *pawl_resource_at(size_t position) {
    return position < sizeof resources / sizeof *resources ? &resources[position] : NULL;
}
