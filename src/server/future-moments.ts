import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../lib/clock.ts';
import { instantIn } from '../lib/instant.ts';
import { AskedWrongly } from '../reporting/relations/invalid-request.ts';

/** A parameter with a moment at which the record is read. */
interface KnownAt {
  readonly parameter: string;
  /**
   * Paths for which the rule applies; elsewhere the name may belong to another kind of moment. Default: all
   * paths.
   */
  readonly of?: RegExp;
  readonly mend: string;
}

const LEFT_OUT = 'leave it out for what is known now';
const EARLIER = 'name one that has';
const CHANGES = /\/changes(\.\w+)?$/;

const KNOWN_AT: readonly KnownAt[] = [
  { parameter: 'as_of', mend: LEFT_OUT },
  { parameter: 'beside', mend: LEFT_OUT },
  { parameter: 'from', of: CHANGES, mend: EARLIER },
  { parameter: 'to', of: CHANGES, mend: LEFT_OUT },
  { parameter: 'at', of: /_as_of(\.\w+)?$/, mend: EARLIER },
];
const asked = z.record(z.string(), z.unknown()).catch({});

/**
 * Refuses reads of the record as of a future moment, on pages, in lists and in files. Otherwise the same
 * request would have another response later. Values that are not moments are left to the validation of the
 * route.
 */
export function refuseFuture(server: FastifyInstance, clock: Clock): void {
  server.addHook('preHandler', async ({ query, url }) => {
    const given = asked.parse(query);
    const address = decodeURIComponent(url.replace(/[?#].*$/s, ''));
    const problems = KNOWN_AT.flatMap(({ parameter, of, mend }) => {
      const text = given[parameter];
      const moment = typeof text === 'string' && of?.test(address) !== false ? instantIn(text) : null;
      if (moment === null || moment <= clock()) return [];
      return [{ parameter, problem: `has not come yet: ${mend}` }];
    });
    if (problems.length > 0) throw new AskedWrongly(problems);
  });
}
