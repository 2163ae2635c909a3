import type { FastifyInstance } from 'fastify';
import { refusalOf } from '../db/question.ts';
import type { ReadGate } from '../db/read-gate.ts';
import { csvForPeople } from '../lib/csv.ts';
import { catalogueOf } from '../reporting/relations/catalogue.ts';
import { exactRow } from '../reporting/relations/values.ts';
import { gone } from './abort-on-disconnect.ts';
import { BadRequest } from './pages/page.ts';
import { fieldsOf } from './pages/query/fields.ts';
import { questionSchema } from './pages/query/question.ts';
import { type Answered, asking, type Wanted } from './run-query.ts';

/** Maximum size of a file. */
const FILE = { rows: 50_000, characters: 32_000_000 } as const;

/**
 * Serves `/query.json` and `/query.csv`, the results of queries as files, and `/query/names.json`, the names
 * for completion.
 */
export function serveQueryData(server: FastifyInstance, gate: ReadGate): void {
  const answer = async (query: unknown, form: Wanted['form'], signal: AbortSignal): Promise<Answered> => {
    const asked = questionSchema.safeParse(query);
    if (!asked.success)
      throw new BadRequest(asked.error.issues.map((one) => `${one.path.join('.')}: ${one.message}`));
    const { sql, as_of } = asked.data;
    const found = await asking(gate, signal)(sql, as_of, { ...FILE, form }).catch((error: unknown) => {
      const refusal = refusalOf(error);
      if (!refusal) throw error;
      const { said, hint, position } = refusal;
      const at = position === null ? '' : `, at character ${position}`;
      throw new BadRequest([`sql: ${said}${at}${hint === null ? '' : `; ${hint}`}`]);
    });
    if (!found.more) return found;
    throw new BadRequest([
      `sql: the answer has more than ${FILE.rows} rows, or ${FILE.characters / 1_000_000} million characters: ask for fewer, with where ` +
        'or limit; the command "chain-recorder query" has no such limit',
    ]);
  };

  server.get('/query.json', async ({ query }, reply) => {
    const { columns, rows } = await answer(query, 'object', gone(reply));
    const names = columns.map(({ name }) => name);
    const twice = names.find((name, at) => names.indexOf(name) < at);
    if (twice !== undefined)
      throw new BadRequest([`sql: two columns are called ${twice}: give each a name of its own (as …)`]);
    return reply
      .type('application/json; charset=utf-8')
      .send(`[${rows.map((row) => exactRow(row, columns)).join(',\n')}]\n`);
  });
  server.get('/query.csv', async ({ query }, reply) => {
    const { columns, rows } = await answer(query, 'values', gone(reply));
    const names = columns.map(({ name }) => name);
    const lines = [names, ...rows.map(fieldsOf)].map((values) => csvForPeople(values));
    return reply
      .type('text/csv; charset=utf-8')
      .header('content-disposition', 'attachment; filename="query.csv"')
      .send(lines.join(''));
  });
  let names: string | undefined;
  const namesOf = () =>
    JSON.stringify(
      [...catalogueOf().views.values()].map(({ name, about, columns, parameters }) => ({
        name,
        about,
        takes: parameters?.map((one) => one.name) ?? null,
        columns: columns.map((one) => [one.name, one.comment]),
      })),
    );
  server.get('/query/names.json', async (_request, reply) => {
    names ??= namesOf();
    return reply.type('application/json; charset=utf-8').send(names);
  });
}
