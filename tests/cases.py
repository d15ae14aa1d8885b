"""The numbered behaviours of matching and delivery, which tests carry as `case(n)`.

They are those of oh-my-pi and dsh-rules, told in one sentence each. Where the product decides
otherwise the number stands in `OVERRULED`, with what holds here instead.
"""

from __future__ import annotations

IN_FORCE = {
    87: "A word that is split over two deltas matches.",
    88: "Halves in two different tool calls match nothing and spend nothing.",
    89: "Halves at the end of one message and the start of the next match nothing.",
    90: "A new attempt begins with empty windows.",
    91: "A call that arrives whole, without deltas, is checked when it ends.",
    92: "A pattern over many lines of a very long stream is found at the end at the latest.",
    93: "A pattern within one line matches on the delta that completes it.",
    94: "A hit that later text could falsify is not settled before that text is known.",
    95: "An edit that removes the construct matches nothing: old text is not searched.",
    96: "Context lines of a patch are not searched.",
    98: "With the rules switched off nothing matches; switched on again, unspent rules do.",
    99: "A pattern that is tested twice gives the same answer twice.",
    106: "A hit on text under `always` ends the stream, and the reissue holds the rule.",
    107: "With `discard` the cut partial is absent from the reissue; with `keep` it is there.",
    108: "A quiet and an interrupting rule that hit together share one interrupt.",
    109: "Under `prose-only` a hit on a call interrupts nothing.",
    110: "Of several calls only the one that matched is named as the reason.",
    111: "A client that leaves between attempts gets no further one.",
    113: "Under `once` a second violating turn passes untouched.",
    114: "The client sees no error and no call twice.",
    115: "One rule hits once in one window, however often its pattern is there.",
    116: "A second interrupting rule of the same turn is not lost.",
    117: "The `path` of a note is the rule's own file.",
    118: "A rule's file below the home directory is shown as `~/…`.",
    119: "Under `never` a call runs, nothing is stopped, and no request is added.",
    120: "A tool reminder stands in front of its call's result.",
    121: "A rule that matched several calls of a message is told once, at the first.",
    122: "Several rules that matched one call share its reminder, a blank line between.",
    124: "A message that was cut leaves no reminder for its calls.",
    125: "A quiet hit on text is told on the next request, and no request is added for it.",
    126: "A rule that waits to be told is not queued twice.",
    127: "Under `after-gap` a rule acts again once the gap has passed, and not before.",
    128: "A conversation that is taken up again still knows what was told in it.",
    129: "A rewind to before a note frees its rule.",
    130: "A rule that was reloaded unchanged stays spent; with another text it is a new one.",
    132: "A call that was refused is refused again: refusals spend nothing.",
}

OVERRULED = {
    97: "No text ever leaves a window: what hits must not depend on how long the answer is.",
    112: "There is no timer between an interrupt and its reissue, so nothing can come between.",
    123: "A call that failed is told of too: the reminder is about what the model wrote, and "
    "whether a result reports a failure is known to the client alone.",
    131: "A restart changes nothing: what was told is read off the conversation and its ledger.",
}
