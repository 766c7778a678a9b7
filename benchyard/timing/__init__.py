"""Commands against each other, without a case: executed in turns until they are told apart.

commands: what is timed. execution: one execution, measured. plan: how often, and when to look.
course: the executions in their random order. ranking: what they say. wording: it in words.
exports: it in files.
"""
