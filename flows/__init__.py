"""What is deployed, and the command line."""

from flows.trust import import_prefect_warily

import_prefect_warily()
