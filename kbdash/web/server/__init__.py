"""Between the network and the pages: limits, closed routes, headers, graceful shutdown; and the launcher."""
