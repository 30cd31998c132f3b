"""Where the data come from: settings, the Hub, revisions and files, the catalog, the sample."""
