"""dbt builds a project over Spark Connect: `make test-dbt`.

FIRESTEEL_DBT names the `dbt` of an environment with tests/dbt/requirements.txt;
without it these tests are skipped.
"""

import datetime
import json
import os
import shutil
import subprocess
from decimal import Decimal

import pytest
from pyspark.sql import SparkSession

from server import ROOT, Server

DBT = os.environ.get("FIRESTEEL_DBT")
pytestmark = pytest.mark.skipif(not DBT, reason="FIRESTEEL_DBT is not set")


class Project:
    """A copy of tests/dbt, and a schema of its own."""

    def __init__(self, folder, url):
        self.folder = shutil.copytree(ROOT / "tests" / "dbt", folder / "project")
        self.schema = "dbt_shop"
        self.environment = {
            **os.environ,
            "SPARK_REMOTE": url,
            "DBT_SCHEMA": self.schema,
            "DBT_PROFILES_DIR": str(self.folder),
            "DBT_PROJECT_DIR": str(self.folder),
            "PYTHONWARNINGS": "ignore",
        }

    def dbt(self, *arguments):
        """Runs dbt, and gives back the status of each node."""
        done = subprocess.run(
            [DBT, "--no-use-colors", *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
        results = json.loads((self.folder / "target" / "run_results.json").read_text())["results"]
        return {result["unique_id"].split(".", 1)[1]: result["status"] for result in results}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    warehouse = tmp_path_factory.mktemp("warehouse")
    with Server("--conf", f"spark.sql.warehouse.dir={warehouse}") as running:
        yield running


@pytest.fixture
def spark(server):
    session = SparkSession.builder.remote(server.url).create()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def project(server, tmp_path_factory):
    return Project(tmp_path_factory.mktemp("dbt"), server.url)


@pytest.fixture(scope="module")
def built(project):
    return project.dbt("build")


def rows(spark, text):
    return [tuple(row) for row in spark.sql(text).collect()]


def test_all_nodes_are_built_and_tested(built):
    assert len(built) == 24
    assert set(built.values()) <= {"success", "pass"}, built


def test_tables_hold_what_the_models_say(spark, project, built):
    assert rows(spark, f"SELECT full_name, orders, spent FROM {project.schema}.customers ORDER BY customer_id") == [
        ("Ada Okafor", 2, Decimal("13.80")),
        ("Björn Lind", 2, Decimal("22.25")),
        ("Chloé Martin", 1, Decimal("99.99")),
        ("Dai O.Neill", 1, Decimal("0.00")),
        ("Eve Smith, Jr.", 0, Decimal("0.00")),
    ]
    assert rows(spark, f"SHOW PARTITIONS {project.schema}.daily_sales") == [
        (f"ordered_on=2024-01-0{day}",) for day in range(1, 5)
    ]
    described = {row[0]: row for row in rows(spark, f"DESCRIBE EXTENDED {project.schema}.customers")}
    assert described["customer_id"] == ("customer_id", "bigint", "The customer's key")
    assert described["Comment"][1] == "Customers with what they bought"


def test_incremental_models_take_what_is_new(spark, project, built):
    more = project.folder / "seeds" / "raw_orders.csv"
    more.write_text(more.read_text() + "8,5,2024-01-04,placed,1.00\n9,5,2024-01-05,placed,2.00\n")
    status = project.dbt("build", "--vars", "{since: 2024-01-04}", "--exclude", "test_type:unit")
    assert set(status.values()) <= {"success", "pass"}, status
    day = datetime.date(2024, 1, 4)
    late = f"SELECT * FROM {project.schema}.daily_sales WHERE ordered_on >= DATE'2024-01-04' ORDER BY 3"
    assert rows(spark, late) == [
        (3, Decimal("19.30"), day),
        (1, Decimal("2.00"), day + datetime.timedelta(days=1)),
    ]
    assert rows(spark, f"SELECT count(*), count(DISTINCT order_id) FROM {project.schema}.order_events") == [(9, 9)]


def test_docs_know_the_columns(project, built):
    project.dbt("docs", "generate")
    catalog = json.loads((project.folder / "target" / "catalog.json").read_text())
    assert not catalog["errors"]
    node = catalog["nodes"]["model.firesteel_shop.customers"]
    assert node["metadata"]["type"] == "table"
    assert {name: column["type"] for name, column in node["columns"].items()} == {
        "customer_id": "long",
        "full_name": "string",
        "first_order": "date",
        "latest_order": "date",
        "orders": "long",
        "spent": "decimal(20,2)",
        "place": "integer",
    }
    assert catalog["nodes"]["model.firesteel_shop.stg_orders"]["metadata"]["type"] == "view"
