vcl 4.1;

# Varnish 7 in front of Lookahead's servers: pages are kept, purged by the keys of their feeds when something has
# changed, and shown as they were while no server answers. docs/scale.md says what this promises;
# script/check-front tries all of it.
#
#   varnishd -a :80 -f /etc/varnish/default.vcl -p http_gzip_support=off -s malloc,1g
#
# The servers run with --purge-url http://THIS:80/, --trusted-proxies THIS, and --public-url with what clients call this,
# so that no client's Host comes into what others are shown. Needs the modules xkey and var
# (Debian: varnish-modules). http_gzip_support is off because the servers compress, brotli among the codings, each
# with a validator of its own.

import directors;
import std;
import var;
import xkey;

include "servers.vcl";

sub vcl_recv {
  if (req.restarts == 0) {
    unset req.http.X-Lookahead-Stale;
    unset req.http.X-Lookahead-Shard;
    # What is known here; what the client says of itself is dropped.
    set req.http.X-Forwarded-For = client.ip;
    if (req.http.X-Request-Id !~ "^[A-Za-z0-9._~+/=@-]{1,128}$") {
      set req.http.X-Request-Id = "varnish-" + req.xid;
    }
  }

  if (req.method == "PURGE") {
    if (client.ip !~ servers_network) { return (synth(405, "Method Not Allowed")); }
    if (!req.http.Surrogate-Key) { return (synth(400, "Surrogate-Key is missing")); }
    # What is being fetched just now is not found by its keys yet: it began before this moment, and is out of date
    # when it comes (vcl_backend_response). Two milliseconds more than the clock says, since the text of a
    # number is rounded.
    var.global_set("purged", std.time2real(now, 0.0) + 0.002);
    set req.http.X-Lookahead-Purged = xkey.softpurge(req.http.Surrogate-Key);
    return (synth(200, "Purged " + req.http.X-Lookahead-Purged));
  }

  # A feed's name out of either form of a page's URL; all else by its path.
  if (req.url ~ "^/rp/?\?(.*&)?feed=") {
    set req.http.X-Lookahead-Shard = regsub(req.url, "^/rp/?\?(?:.*&)?feed=([^&]*).*$", "\1");
  } elsif (req.url ~ "^/v1/feeds/[^/?]+") {
    set req.http.X-Lookahead-Shard = regsub(req.url, "^/v1/feeds/([^/?]+).*$", "\1");
  } else {
    set req.http.X-Lookahead-Shard = regsub(req.url, "\?.*$", "");
  }
  set req.backend_hint = servers.backend(by=KEY, key=servers.key(req.http.X-Lookahead-Shard));

  if (req.url ~ "^/(metrics|readyz|healthz)(\?|$)") {
    if (client.ip !~ servers_network) { return (synth(404, "Not Found")); }
    return (pass);
  }

  # Events never end: their bytes go through as they come.
  if (req.url ~ "^/v1/feeds/[^/?]+/events(\?|$)") { return (pipe); }

  if (req.method != "GET" && req.method != "HEAD") { return (pass); }
  # Who writes sees what was written; who measures sees the server.
  if (req.http.Authorization || req.http.Prefer) { return (pass); }
  # Files go through, whole or by ranges, from the server's disk; a content network keeps them.
  if (req.url ~ "^/media/") { return (pass); }

  # Fewer variants: parameters in one order, one coding, and only what the server reads.
  set req.url = std.querysort(req.url);
  if (req.http.Accept-Encoding ~ "(^|[ ,])br([ ,;]|$)" && req.http.Accept-Encoding !~ "br *; *q *= *0(\.0*)?([ ,]|$)") {
    set req.http.Accept-Encoding = "br";
  } elsif (req.http.Accept-Encoding ~ "(^|[ ,])gzip([ ,;]|$)"
    && req.http.Accept-Encoding !~ "gzip *; *q *= *0(\.0*)?([ ,]|$)") {
    set req.http.Accept-Encoding = "gzip";
  } elsif (req.http.Accept-Encoding !~ "q *= *0") {
    unset req.http.Accept-Encoding;
  }
  if (req.http.Save-Data != "on") { unset req.http.Save-Data; }
  if (req.http.ECT !~ "^(slow-2g|2g|3g|4g)$") { unset req.http.ECT; }
  unset req.http.Cookie;

  # As long as a server is well, what was purged is asked for anew before it is shown; else it is shown as it was.
  if (!req.http.X-Lookahead-Stale && std.healthy(req.backend_hint)) { set req.grace = 0s; } else { set req.grace = 1h; }
  return (hash);
}

sub vcl_pipe {
  # One request a connection: what comes after it would go by unseen.
  set bereq.http.Connection = "close";
}

sub vcl_backend_fetch {
  # When it began, as vcl_backend_response wants to know.
  var.set_real("began", std.time2real(now, 0.0));
  if (bereq.retries > 0) {
    set bereq.backend =
      servers.backend(by=KEY, key=servers.key(bereq.http.X-Lookahead-Shard), alt=bereq.retries);
  }
}

sub vcl_backend_response {
  if (bereq.uncacheable) { return (deliver); }
  if (beresp.status >= 500) {
    # Another server may do better; else what was shown before does (vcl_synth), which an answer would take the
    # place of. Who asks for the second time gets this one, since there is nothing else.
    if (bereq.retries < 2) { return (retry); }
    if (bereq.is_bgfetch || !bereq.http.X-Lookahead-Stale) { return (abandon); }
  }
  if (!beresp.http.Surrogate-Key) {
    # Errors, and what has no key: not kept, and nobody's later request is held up by it for long.
    if (beresp.http.Cache-Control !~ "max-age" || beresp.status >= 400) {
      set beresp.ttl = 0s;
      set beresp.grace = 0s;
      return (deliver);
    }
  }
  set beresp.http.xkey = beresp.http.Surrogate-Key;
  # How long it may be shown while no server answers, and is there to be asked for with If-None-Match.
  set beresp.grace = 1h;
  set beresp.keep = 10m;
  # It began before the last purge: of whatever, it may be what that was about. With no time to live at all it would
  # not be there for when no server answers.
  if (var.get_real("began") <= std.real(var.global_get("purged"), 0.0)) { set beresp.ttl = 0.001s; }
  return (deliver);
}

sub vcl_backend_error {
  if ((bereq.method == "GET" || bereq.method == "HEAD") && bereq.retries < 2) { return (retry); }
  if (!bereq.uncacheable) { return (abandon); }
}

sub vcl_synth {
  unset resp.http.X-Varnish;
  # No server gave an answer: the one of before, if there is one, is better than none.
  if (resp.status == 503 && req.restarts == 0 && (req.method == "GET" || req.method == "HEAD")) {
    set req.http.X-Lookahead-Stale = "1";
    return (restart);
  }
  set resp.http.X-Request-Id = req.http.X-Request-Id;
  if (req.method == "PURGE") { return (deliver); }
  set resp.http.Content-Type = "application/problem+json";
  set resp.http.Cache-Control = "no-store";
  set resp.http.Access-Control-Allow-Origin = "*";
  if (resp.status == 503) { set resp.http.Retry-After = "1"; }
  set resp.body = {"{"type":"about:blank","title":""} + resp.reason + {"","status":"} + resp.status + {"}"};
  return (deliver);
}

sub vcl_deliver {
  # That of the request and not that of whoever first asked for the page.
  set resp.http.X-Request-Id = req.http.X-Request-Id;
  if (obj.uncacheable) {
    set resp.http.X-Cache = "PASS";
  } elsif (obj.hits > 0) {
    if (obj.ttl < 0s) { set resp.http.X-Cache = "STALE"; } else { set resp.http.X-Cache = "HIT"; }
  } else {
    set resp.http.X-Cache = "MISS";
  }
  # What is shown is what the server would say now: whoever keeps it further begins to count here.
  if (resp.http.X-Cache != "STALE") { unset resp.http.Age; }
  unset resp.http.Surrogate-Key;
  unset resp.http.xkey;
  unset resp.http.X-Varnish;
  unset resp.http.Via;
}
