"""What every text is measured by when its store is built: telling lines, likeness, program and size.

Whoever changes what one of them gives raises its version in `RULES` of `kbdash.content.store.layout`.
"""
