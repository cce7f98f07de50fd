"""Batch jobs.

Revision ID: 0003
"""

import sqlalchemy as sa
from alembic import op

from carrel.server.migrations.constraints import belongs_to

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "batch_jobs",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("organisation_id", sa.String(36), nullable=False),
        sa.Column("user_id", sa.String(36), nullable=False),
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("input_files", sa.JSON(), nullable=False),
        sa.Column("model", sa.Text()),
        sa.Column("agent_id", sa.Text()),
        sa.Column("metadata", sa.JSON()),
        sa.Column("visibility", sa.Text(), nullable=False),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("errors", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger()),
        sa.Column("completed_at", sa.BigInteger()),
        sa.Column("deadline", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("succeeded", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("output_file", sa.String(36)),
        sa.Column("error_file", sa.String(36)),
        belongs_to("batch_jobs", "organisation_id", "organisations"),
        belongs_to("batch_jobs", "user_id", "users"),
        sa.PrimaryKeyConstraint("id", name="pk_batch_jobs"),
    )
    for column in ("organisation_id", "user_id", "status", "created_at"):
        op.create_index(f"ix_batch_jobs_{column}", "batch_jobs", [column])
    op.create_table(
        "batch_inputs",
        sa.Column("job_id", sa.String(36), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("blob", sa.String(64), nullable=False),
        belongs_to("batch_inputs", "job_id", "batch_jobs"),
        sa.PrimaryKeyConstraint("job_id", "position", name="pk_batch_inputs"),
    )
    op.create_index("ix_batch_inputs_blob", "batch_inputs", ["blob"])
    op.create_table(
        "batch_lines",
        sa.Column("job_id", sa.String(36), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("custom_id", sa.Text(), nullable=False),
        sa.Column("input", sa.Integer(), nullable=False),
        sa.Column("start", sa.BigInteger(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("status", sa.Integer()),
        sa.Column("response", sa.Text()),
        belongs_to("batch_lines", "job_id", "batch_jobs"),
        sa.PrimaryKeyConstraint("job_id", "number", name="pk_batch_lines"),
    )
