import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../lib/clock.ts';
import { parseInstant } from '../lib/instant.ts';
import { InvalidRequestError } from '../reporting/relations/invalid-request.ts';

/** A parameter with a moment as of which the record is read. */
interface MomentParameter {
  readonly parameter: string;
  /**
   * Matches the paths on which this parameter is a moment of the record. On other paths the parameter has
   * another meaning. Default: all paths.
   */
  readonly of?: RegExp;
  readonly fix: string;
}

const OMIT_ADVICE = 'omit this parameter to read the current state';
const EARLIER_ADVICE = 'name an earlier moment';
const CHANGES = /\/changes(\.\w+)?$/;

const MOMENT_PARAMETERS: readonly MomentParameter[] = [
  { parameter: 'as_of', fix: OMIT_ADVICE },
  { parameter: 'beside', fix: OMIT_ADVICE },
  { parameter: 'from', of: CHANGES, fix: EARLIER_ADVICE },
  { parameter: 'to', of: CHANGES, fix: OMIT_ADVICE },
  { parameter: 'at', of: /_as_of(\.\w+)?$/, fix: EARLIER_ADVICE },
];
const parametersSchema = z.record(z.string(), z.unknown()).catch({});

/**
 * Refuses requests for the record as of a future moment, because the response to the same request would
 * change later. Values that are not moments are validated by the route.
 */
export function refuseFuture(server: FastifyInstance, clock: Clock): void {
  server.addHook('preHandler', async ({ query, url }) => {
    const parameters = parametersSchema.parse(query);
    const address = decodeURIComponent(url.replace(/[?#].*$/s, ''));
    const problems = MOMENT_PARAMETERS.flatMap(({ parameter, of, fix }) => {
      const text = parameters[parameter];
      const moment = typeof text === 'string' && of?.test(address) !== false ? parseInstant(text) : null;
      if (moment === null || moment <= clock()) return [];
      return [{ parameter, problem: `is in the future: ${fix}` }];
    });
    if (problems.length > 0) throw new InvalidRequestError(problems);
  });
}
