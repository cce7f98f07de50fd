"""Jobs that were left behind."""

import asyncio
from pathlib import Path

import sqlalchemy as sa

from carrel.server.datadir.folder import DataFolder
from carrel.server.library.reconciler import Reconciler
from carrel.server.records.sql.queues import table_of
from support import storage
from support.processing import Lab, ScriptedReader


async def test_a_job_that_nothing_is_at_is_cancelled_and_its_document_finished(
    tmp_path: Path,
) -> None:
    with DataFolder(tmp_path / "data") as folder:
        storage.prepare(folder)
        lab = Lab(folder, ScriptedReader())
        await lab.open()
        try:
            await lab.reconciled()
            document = await lab.add(await lab.new_library())
            await lab.until(document, "done")
            await lab.idle()
            # As after a full disk: the job has ended, and neither its row nor the document's
            # could be written.
            await lab.database.write(_leave_behind)
            for expected in (1, 0):
                await asyncio.to_thread(lab.jobs.cancel_lost)
                assert lab.jobs.lost == expected
            await Reconciler(lab.database, lab.service._queue, lab.jobs).reconcile()
            await lab.until(document, "done")
        finally:
            await lab.close()


def _leave_behind(connection: sa.Connection) -> None:
    jobs = table_of(connection, "workflow_status", "status")
    connection.execute(sa.update(jobs).values(status="PENDING"))
    connection.execute(sa.text("UPDATE documents SET process_status = 'in_progress'"))
