"""nginx with buffering off: what a proxy in C that reads HTTP costs."""

from __future__ import annotations

import shutil

from bench.peers import Peer, Place
from bench.processes import Launch

_CONFIGURATION = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 8192; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    upstream api {{ server 127.0.0.1:{upstream}; keepalive 32; }}
    server {{
        listen 127.0.0.1:{port} backlog=2048;
        location / {{
            proxy_pass http://api;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_buffering off;
            proxy_read_timeout 600;
        }}
    }}
}}
"""


def missing() -> str | None:
    """It is a package of the system's."""
    if shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin"):
        return None
    return "not installed (Debian: apt-get install nginx-light)"


def launch(place: Place) -> Launch:
    """One worker, everything it writes in the folder."""
    written = place.folder / "nginx.conf"
    text = _CONFIGURATION.format(folder=place.folder, port=place.port, upstream=place.upstream)
    written.write_text(text, encoding="utf-8")
    error_log = str(place.folder / "error.log")
    argv = ("/usr/sbin/nginx", "-p", str(place.folder), "-c", str(written), "-e", error_log)
    return Launch(argv, {})


PEER = Peer("nginx", missing, launch)
