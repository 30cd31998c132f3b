"""One process of the app, served by uvicorn with limits of its own."""

import logging
import os

import uvicorn

from kbdash.web import program_folder

# Readers send a few kilobytes; this limits the memory of a message that never ends.
MESSAGE_BYTES = 1_000_000
STOP_SECONDS = 5


def run(address: str, port: int) -> None:
    """Serve until told to stop."""
    program_folder.enter()
    os.environ.setdefault("STREAMLIT_SERVER_FILE_WATCHER_TYPE", "none")
    # The address that Streamlit reports must be the one the browser uses.
    os.environ.setdefault("STREAMLIT_SERVER_PORT", str(port))
    # Streamlit adds its own handlers to uvicorn's loggers, including the access log.
    logging.getLogger("uvicorn.access").addFilter(lambda _: False)
    uvicorn.run(
        "app:app",
        app_dir=str(program_folder.PROGRAM),
        host=address,
        port=port,
        ws="websockets-sansio",
        ws_max_size=MESSAGE_BYTES,
        ws_ping_interval=20,
        ws_ping_timeout=20,
        timeout_graceful_shutdown=STOP_SECONDS,
        proxy_headers=False,  # kbdash.web.server.address determines the client's address
        server_header=False,
        access_log=False,
        log_level="warning",
    )
