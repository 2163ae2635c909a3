import type postgres from 'postgres';

/** Time zones of sessions: days that start before and after those of UTC, offsets of quarters of an hour, and daylight saving time. */
export const ZONES = ['UTC', 'Asia/Kathmandu', 'America/St_Johns', 'Pacific/Kiritimati', 'Europe/Zurich'];

/**
 * The rows of each statement, or its error, for each time zone of the session; at one moment of the database's clock.
 * @param first statements that are run before, and rolled back in the end
 */
export async function answersByZone(
  sql: postgres.Sql,
  statements: readonly string[],
  first = '',
): Promise<Readonly<Record<string, readonly string[][]>>> {
  const answers: Record<string, string[][]> = {};
  await sql.begin(async (transaction) => {
    await transaction.unsafe(first);
    for (const zone of ZONES) {
      await transaction.unsafe(`set local timezone to '${zone}'`);
      answers[zone] = [];
      for (const statement of statements)
        answers[zone].push(
          await transaction
            .savepoint((one) => one.unsafe(statement))
            .then(
              (rows) => rows.map((row) => JSON.stringify(row)).sort(),
              (error: unknown) => [String(error)],
            ),
        );
    }
    await transaction.unsafe('rollback');
  });
  return answers;
}
