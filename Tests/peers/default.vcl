# Varnish before Lookahead. BACKEND_PORT is put in by check_peers.py; your own port is 8080.
vcl 4.1;

backend lookahead {
  .host = "127.0.0.1";
  .port = "BACKEND_PORT";
  .connect_timeout = 2s;
  .first_byte_timeout = 65s;
  .between_bytes_timeout = 30s;
}

sub vcl_recv {
  # Only these are for everybody: /metrics and /readyz stay in.
  if (req.url !~ "^/(rp/?(\?|$)|v1/|media/|openapi\.json$)") {
    return (synth(404));
  }
  if (req.url ~ "^/media/") {
    # Ranges go through as they are. Not `pipe`: what follows on such a connection would be unseen.
    return (pass);
  }
}

sub vcl_backend_response {
  # Kept for this long after it has become stale, so that it can be revalidated with its ETag.
  set beresp.keep = 10m;
}

sub vcl_deliver {
  if (obj.hits > 0) {
    set resp.http.X-Cache = "HIT";
  } else {
    set resp.http.X-Cache = "MISS";
  }
}
