"""ECMAScript patterns: parse, analyse, translate to the three forms."""
