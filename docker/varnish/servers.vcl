# The servers behind Varnish, and who may purge: the part of default.vcl that is different for each place.

import directors;
import std;

probe ready {
  .url = "/readyz";
  .interval = 1s;
  .timeout = 1s;
  .window = 3;
  .threshold = 2;
  .initial = 2;
}

backend server1 { .host = "server1"; .port = "8080"; .probe = ready; .connect_timeout = 1s; .first_byte_timeout = 65s; }
backend server2 { .host = "server2"; .port = "8080"; .probe = ready; .connect_timeout = 1s; .first_byte_timeout = 65s; }
backend server3 { .host = "server3"; .port = "8080"; .probe = ready; .connect_timeout = 1s; .first_byte_timeout = 65s; }

# Whose PURGE is obeyed, and whose requests see /metrics: the servers' own network.
acl servers_network {
  "127.0.0.0"/8;
  "::1";
  "10.203.1.0"/24;
}

sub vcl_init {
  # All requests for a feed go to one server as long as it is well: it has that feed in memory, and never shows an
  # older state of it than it showed before. Those of one that is gone spread over the others.
  new servers = directors.shard();
  servers.add_backend(server1);
  servers.add_backend(server2);
  servers.add_backend(server3);
  servers.reconfigure();
}
