"""Commands against each other, without a case: executed in turns until they are told apart.

commands: what is timed. execution: one execution, measured. ranking: how often, when to look, and
what the numbers say. course: the executions in their random order. exports: it in words and files.
"""
