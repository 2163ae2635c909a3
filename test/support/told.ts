import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type postgres from 'postgres';
import { questionCommand } from '../../src/commands/question.ts';
import { catalog } from '../../src/datasets/catalog.ts';
import { UsageError } from '../../src/errors.ts';
import { parametersOf, questions } from '../../src/reports/questions.ts';

/**
 * Everything that the ready questions and the datasets tell as of a moment, by name: the questions as CSV or the reason why
 * they are refused, the datasets as a digest of their rows. Datasets of which there was no record have none.
 * @param target answers to parameters that a question cannot do without
 */
export async function toldAsOf(
  databaseUrl: string,
  sql: postgres.Sql,
  moment: Date,
  from: Date,
  target: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const told: Record<string, string> = {};
  const asOf = moment.toISOString();
  for (const question of questions().flatMap((part) => part.questions)) {
    const names = parametersOf(question).map(({ name }) => name);
    if (!names.includes('as_of')) continue;
    const values = Object.entries(target).filter(([name]) => names.includes(name));
    const window = names.includes('from') ? { from: from.toISOString(), to: asOf } : {};
    const out = new PassThrough();
    const printed = text(out);
    const refused = await questionCommand(
      { databaseUrl, clock: () => moment.getTime() },
      question,
      { ...window, asOf, target: values.map((pair) => pair.join('=')), format: 'csv' },
      new AbortController().signal,
      out,
    ).catch((error: unknown) => {
      if (error instanceof UsageError) return error.message;
      throw error;
    });
    out.end();
    told[question.name] = `${await printed}${refused}`;
  }
  for (const { name } of catalog) {
    const [row] = await sql`
      select count(*)::int as rows, md5(string_agg(t::text, '|' order by t::text)) as digest
      from ${sql(`reporting.${name}_as_of`)}(${moment}) t`.catch(() => []);
    if (row) told[name] = `${row.rows} ${row.digest}`;
  }
  return told;
}
