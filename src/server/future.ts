import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { AskedWrongly } from '../api/asked-wrongly.ts';
import type { Clock } from '../clock.ts';
import { instantIn } from '../instant.ts';

/** The parameters, wherever they are taken, that name a moment of which it is asked what was known then. */
const KNOWN_AT = ['as_of', 'beside'] as const;
const asked = z.record(z.string(), z.unknown()).catch({});

/**
 * Refuses to tell what will be known at a moment that has not come: a page, a list and a file alike. Whoever kept such an answer would
 * find another one later. What is no moment at all is for the route to refuse.
 */
export function refuseFuture(server: FastifyInstance, clock: Clock): void {
  server.addHook('preHandler', async ({ query }) => {
    const given = asked.parse(query);
    const problems = KNOWN_AT.flatMap((parameter) => {
      const text = given[parameter];
      const moment = typeof text === 'string' ? instantIn(text) : null;
      if (moment === null || moment <= clock()) return [];
      return [{ parameter, problem: 'has not come yet: leave it out for what is known now' }];
    });
    if (problems.length > 0) throw new AskedWrongly(problems);
  });
}
