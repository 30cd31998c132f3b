"""What every text is measured by when its store is built: telling lines, likeness, program and size."""
