"""What is deployed, and the command line."""

from tasks.trust import import_prefect_warily

import_prefect_warily()
