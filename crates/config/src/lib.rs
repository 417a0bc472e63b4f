//! Every configuration key of Spark and Firesteel, and a session's snapshot of them
