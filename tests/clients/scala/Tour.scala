// A tour with Spark's client for Scala: `Tour URL FOLDER`. Prints what each step finds; see test_scala.py.

import java.time.LocalDate

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.expressions.Window
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types._

case class Person(id: Int, name: String, age: Option[Int], team: String)
case class Team(team: String, colour: String)
case class Address(street: String, number: Int)
case class Resident(name: String, home: Address, tags: Seq[String], marks: Map[String, Double], born: LocalDate, paid: BigDecimal)

object Tour {
  def main(arguments: Array[String]): Unit = {
    val Array(url, folder) = arguments
    val spark = SparkSession.builder().config("spark.api.mode", "connect").remote(url).getOrCreate()
    try steps(spark, folder) finally spark.stop()
  }

  private def step(name: String)(body: => Any): Unit = {
    val text =
      try body match {
        case rows: Array[_] => rows.mkString("\n")
        case rows: Seq[_] => rows.mkString("\n")
        case value => String.valueOf(value)
      } catch {
        case error: SparkThrowable =>
          s"${error.getClass.getName} ${error.getCondition} ${error.getSqlState} ${error.getMessageParameters.asScala.toSeq.sorted.mkString(", ")}"
        case error: Throwable => error.toString
      }
    println(s"## $name\n$text")
  }

  /** A step with a function that only a JVM can run: prints the whole message. */
  private def closure(name: String)(body: => Any): Unit =
    step(s"closure: $name")(try body catch { case error: Throwable => s"${error.getClass.getName}: ${error.getMessage}" })

  private def steps(spark: SparkSession, folder: String): Unit = {
    import spark.implicits._
    val people = Seq(Person(1, "Ann", Some(30), "a"), Person(2, "Bob", None, "a"), Person(3, "Cid", Some(25), "b")).toDS()
    val teams = Seq(Team("a", "Red"), Team("c", "Blue")).toDS()

    step("range")(spark.range(1, 7, 2).collect())
    step("version")(spark.version.split('.').length)
    step("schema")(people.schema.toDDL)
    step("tree")(people.schema.treeString.trim)
    step("case classes")(people.orderBy("id").collect())
    step("rows")(people.toDF().orderBy($"id".desc).collect())
    step("typed columns")(people.select($"name".as[String], ($"id" * 2).as[Int]).orderBy($"name").collect())
    step("aggregate")(people.groupBy("team").agg(count("*"), avg("age"), max($"name").as("last")).orderBy("team").collect())
    step("window") {
      val window = Window.partitionBy("team").orderBy($"id".desc)
      people.select($"id", row_number().over(window), lag("id", 1).over(window)).orderBy("id").collect()
    }
    step("join")(people.join(teams, "team").select("id", "colour").orderBy("id").collect())
    step("joinWith")(people.joinWith(teams, people("team") === teams("team")).orderBy($"_1.id").collect())
    step("joinWith outer")(people.joinWith(teams, people("team") === teams("team"), "left_outer").orderBy($"_1.id").collect())
    step("joinWith full") {
      val joined = people.joinWith(teams, people("team") === teams("team"), "full_outer")
      joined.select($"_1.id", $"_2.colour", $"_1".isNull).orderBy($"id".asc_nulls_last).collect()
    }
    step("joinWith schema")(people.joinWith(teams, people("team") === teams("team"), "right_outer").schema.toDDL)
    step("joinWith plain")(spark.range(3).as[Long].joinWith(Seq(1L, 2L, 5L).toDS(), $"id" === $"value").orderBy("_1").collect())
    step("joinWith itself") {
      val other = people.as("other")
      people.as("one").joinWith(other, $"one.id" === $"other.id" - 1).orderBy($"_1.id").collect()
    }
    step("joinWith semi")(people.joinWith(teams, people("team") === teams("team"), "left_semi").collect())
    step("encoders") {
      val residents = Seq(
        Resident("Ann", Address("Elm", 3), Seq("x", "y"), Map("a" -> 1.5), LocalDate.of(2024, 2, 29), BigDecimal("12.50")),
        Resident("Bob", null, Nil, Map.empty, null, null))
      residents.toDS().orderBy("name").collect()
    }
    step("nested") {
      val frame = spark.sql("SELECT named_struct('street', 'Elm', 'number', 3) AS home, array(1, 2) AS list, map('k', 1L) AS map")
      frame.select($"home.street", $"list"(1), $"map"("k"), size($"list")).collect()
    }
    step("as a tuple")(spark.sql("SELECT 1 AS a, 'x' AS b").as[(Int, String)].collect())
    step("as a case class")(spark.sql("SELECT 'Elm' AS street, 3 AS number").as[Address].collect())
    step("upcast")(spark.sql("SELECT 'Elm' AS street, 3L AS number").as[Address].collect())
    step("rows with a schema") {
      val schema = new StructType().add("k", StringType).add("v", ArrayType(IntegerType))
      spark.createDataFrame(java.util.Arrays.asList(Row("a", Seq(1, 2)), Row(null, null)), schema).collect()
    }
    step("sql arguments")(spark.sql("SELECT :a + 1, :b", Map("a" -> 41, "b" -> "x")).collect())
    step("positional arguments")(spark.sql("SELECT ? * 2", Array(21)).collect())
    step("view") {
      people.createOrReplaceTempView("scala_people")
      spark.sql("SELECT count(*), sum(age) FROM scala_people").collect()
    }
    step("catalog")(Seq(spark.catalog.currentDatabase, spark.catalog.tableExists("scala_people"), spark.catalog.dropTempView("scala_people")))
    step("settings") {
      spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
      try Seq(spark.conf.get("spark.sql.session.timeZone"), spark.sql("SELECT current_timezone()").as[String].head(), spark.conf.get("no.such.key", "none"))
      finally spark.conf.unset("spark.sql.session.timeZone")
    }
    step("files") {
      people.write.mode("overwrite").partitionBy("team").parquet(s"$folder/people")
      spark.read.parquet(s"$folder/people").as[Person].orderBy("id").collect()
    }
    step("csv") {
      teams.write.mode("overwrite").option("header", true).csv(s"$folder/teams")
      spark.read.option("header", true).csv(s"$folder/teams").orderBy("team").collect()
    }
    step("checkpoint") {
      val frame = spark.range(50).withColumn("r", rand()).localCheckpoint()
      frame.collect().sameElements(frame.collect())
    }
    step("cache") {
      val frame = spark.range(10).cache()
      Seq(frame.count(), frame.storageLevel.useMemory, frame.unpersist().storageLevel.useMemory)
    }
    step("observe") {
      val seen = org.apache.spark.sql.Observation("seen")
      people.observe(seen, count(lit(1)).as("n"), max($"id").as("most")).collect()
      seen.get.toSeq.sortBy(_._1)
    }
    step("show")(people.orderBy("id").limit(2).select("name").collect().map(_.getString(0)))
    step("iterator") {
      val rows = spark.range(5).toLocalIterator()
      var sum = 0L
      while (rows.hasNext) sum += rows.next()
      sum
    }
    step("no column")(people.select("nope").collect())
    step("no table")(spark.table("nowhere").collect())
    step("syntax")(spark.sql("SELEC 1").collect())
    step("division")(spark.sql("SELECT 1 / (id - id) FROM range(1)").collect())
    step("cast")(spark.sql("SELECT CAST('x' AS INT)").collect())
    step("index")(spark.sql("SELECT array(1)[3]").collect())
    step("raised")(spark.sql("SELECT raise_error('boom')").collect())

    closure("map")(people.map(_.name.length).collect())
    closure("filter")(people.filter(_.id > 1).collect())
    closure("flatMap")(people.flatMap(person => Seq(person.id, person.id)).collect())
    closure("mapPartitions")(people.mapPartitions(rows => Iterator(rows.size)).collect())
    closure("foreach")(people.foreach(_ => ()))
    closure("groupByKey")(people.groupByKey(_.team).count().collect())
    closure("mapGroups")(people.groupByKey(_.team).mapGroups((key, rows) => key + rows.size).collect())
    closure("cogroup")(people.groupByKey(_.team).cogroup(teams.groupByKey(_.team))((key, _, _) => Iterator(key)).collect())
    closure("reduceGroups")(people.groupByKey(_.team).reduceGroups((left, _) => left).collect())
    closure("reduce")(people.select($"id".as[Int]).reduce(_ + _))
    closure("udf")(people.select(udf((text: String) => text.length).apply($"name")).collect())
    closure("registered udf")(spark.udf.register("text_length", (text: String) => text.length))
  }
}
