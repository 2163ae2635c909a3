import type { FastifyInstance } from 'fastify';
import { explainRefusal } from '../db/query-as-reader.ts';
import type { ReadGate } from '../db/read-gate.ts';
import { formatDisplayCsv } from '../lib/csv.ts';
import { parseFields } from '../lib/parse-fields.ts';
import { getCatalogue } from '../reporting/relations/catalogue.ts';
import { invalidParameter, validateParameters } from '../reporting/relations/invalid-request.ts';
import { exactRow } from '../reporting/relations/values.ts';
import { abortOnDisconnect } from './abort-on-disconnect.ts';
import { queryParametersSchema } from './pages/query/query-parameters.ts';
import { createQueryRunner, type QueryResult, type ResultLimits } from './run-query.ts';

type Query = Readonly<Record<string, unknown>>;

const FILE_LIMITS = { rows: 50_000, characters: 32_000_000 } as const;

/**
 * Serves `/query.json` and `/query.csv`, the results of queries as files, and `/query/names.json`, the names
 * for completion.
 */
export function serveQueryData(server: FastifyInstance, gate: ReadGate): void {
  const answer = async (
    query: Query,
    form: ResultLimits['form'],
    signal: AbortSignal,
  ): Promise<QueryResult> => {
    const { sql, as_of } = validateParameters(queryParametersSchema, query);
    const found = await createQueryRunner(gate, signal)(sql, as_of, { ...FILE_LIMITS, form }).catch(
      (error: unknown) => {
        const refusal = explainRefusal(error);
        if (!refusal) throw error;
        const { reason, hint, position } = refusal;
        const at = position === null ? '' : `, at character ${position}`;
        throw invalidParameter('sql', `${reason}${at}${hint === null ? '' : `; ${hint}`}`);
      },
    );
    if (!found.more) return found;
    throw invalidParameter(
      'sql',
      `the result has more than ${FILE_LIMITS.rows} rows, or ${FILE_LIMITS.characters / 1_000_000} million characters: select fewer rows, with where ` +
        'or limit; the command "chain-recorder query" has no such limit',
    );
  };

  server.get<{ Querystring: Query }>('/query.json', async ({ query }, reply) => {
    const { columns, rows } = await answer(query, 'object', abortOnDisconnect(reply));
    const names = columns.map(({ name }) => name);
    const duplicate = names.find((name, at) => names.indexOf(name) < at);
    if (duplicate !== undefined)
      throw invalidParameter('sql', `two columns are named ${duplicate}: rename one of them (as …)`);
    return reply
      .type('application/json; charset=utf-8')
      .send(`[${rows.map((row) => exactRow(row, columns)).join(',\n')}]\n`);
  });
  server.get<{ Querystring: Query }>('/query.csv', async ({ query }, reply) => {
    const { columns, rows } = await answer(query, 'values', abortOnDisconnect(reply));
    const names = columns.map(({ name }) => name);
    const lines = [names, ...rows.map(parseFields)].map((values) => formatDisplayCsv(values));
    return reply
      .type('text/csv; charset=utf-8')
      .header('content-disposition', 'attachment; filename="query.csv"')
      .send(lines.join(''));
  });
  let names: string | undefined;
  const namesOf = () =>
    JSON.stringify(
      [...getCatalogue().views.values()].map(({ name, about, columns, parameters }) => ({
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
