"""Chrome's trace-event format, which Chrome, Perfetto and many tools write and read.

Source: "Trace Event Format", Google, catapult's docs.
"""
