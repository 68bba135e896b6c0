-- The identity of the database, the fleet's secret and epoch, and whether the database is a copy of the fleet's.
SELECT pawl.identity(), secret.value, epoch.value, database.value <> pawl.identity()
    FROM pawl.meta AS secret, pawl.meta AS epoch, pawl.meta AS database
    WHERE secret.name = 'secret' AND epoch.name = 'epoch' AND database.name = 'database'
