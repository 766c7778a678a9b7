"""The lab that runs all the time: server, workers, and what keeps them alive."""

from tasks.trust import import_prefect_warily

import_prefect_warily()
