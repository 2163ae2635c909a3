import type { SourcePatch } from '../../chaos/source-patch.ts';

/** A bug for `src/`, and the test file of `npm test` that fails with it. */
export interface Mutation extends SourcePatch {
  readonly name: string;
  /** Below `test/`. */
  readonly test: string;
}

export const mutations: readonly Mutation[] = [
  {
    name: 'a commit is not fenced by the run that holds the lease',
    file: 'recording/commit.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a text of the source
    from: ' and run_id = ${runId}\n',
    to: '\n',
    test: 'recording/record.test.ts',
  },
  {
    name: 'a lease that another run holds is claimed',
    file: 'recording/claim-run.ts',
    from: 't.run_id is null or t.lease_until is null or t.lease_until < now()',
    to: 'true',
    test: 'recording/claim-run.test.ts',
  },
  {
    name: 'a run that lost its target keeps the lease of another one',
    file: 'recording/claim-run.ts',
    from: 'eq(targets.target_key, key), eq(targets.run_id, runId)))',
    to: 'eq(targets.target_key, key)))',
    test: 'recording/claim-run.test.ts',
  },
  {
    name: 'a clock that is ahead marks the future as covered',
    file: 'recording/commit.ts',
    from: "source.range?.axis === 'time'\n      ?",
    to: "source.range?.axis !== 'time'\n      ?",
    test: 'recording/record.test.ts',
  },
  {
    name: 'members are retired without a complete walk',
    file: 'recording/histories/absence.ts',
    from: "const may = statement.param('boolean', ({ batches }) => batches[at]?.absence != null);",
    to: "const may = statement.param('boolean', ({ batches }) => batches[at] != null);",
    test: 'recording/histories/versioned-history.test.ts',
  },
  {
    name: 'a list that lost most of its members is believed at once',
    file: 'recording/histories/absence.ts',
    from: 'coalesce(missing * 2 > current, false) as shrunk',
    to: 'false as shrunk',
    test: 'recording/histories/absence.test.ts',
  },
  {
    name: 'a member that was found again stays marked as missed',
    file: 'recording/histories/absence.ts',
    from: 'set missed_walks = null, missed_since = null from',
    to: 'set missed_walks = o.missed_walks from',
    test: 'recording/histories/absence.test.ts',
  },
  {
    name: 'rows outside of the window are retired',
    file: 'recording/histories/absence.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a text of the source
    from: "`o.${time} >= ${bound('from')}`, ",
    to: '',
    test: 'recording/histories/versioned-history.test.ts',
  },
  {
    name: 'a version starts before the one it replaces',
    file: 'recording/histories/versioned-history.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a text of the source
    from: "`greatest(${observedAt}, ${previous} + interval '1 microsecond')`",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a text of the source
    to: '`greatest(${observedAt}, ${observedAt} + 0 * (${previous} - ${previous}))`',
    test: 'recording/histories/versioned-history.test.ts',
  },
  {
    name: 'a value that is observed late replaces a later one',
    file: 'recording/histories/log-history.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a text of the source
    from: '${late} and o.valid_from > ${observedAt} as earlier',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a text of the source
    to: '${late} and o.valid_from < ${observedAt} as earlier',
    test: 'recording/histories/log.test.ts',
  },
  {
    name: 'an answer with fewer fields removes values',
    file: 'recording/histories/log-history.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a text of the source
    from: 'coalesce(n.${name}, o.${name}) end',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a text of the source
    to: 'n.${name} end',
    test: 'recording/histories/log.test.ts',
  },
  {
    name: 'what an upstream may still change counts as covered',
    file: 'recording/proof.ts',
    from: "axis === 'time' ? startedAt - settle :",
    to: "axis === 'time' ? startedAt :",
    test: 'recording/record.test.ts',
  },
  {
    name: 'a piece of the missing time is left out',
    file: 'recording/windows.ts',
    from: 'from = Math.max(from, part.to)',
    to: 'from = Math.min(from, part.to)',
    test: 'recording/windows.test.ts',
  },
  {
    name: 'one failed probe is an outage',
    file: 'health/state.ts',
    from: 'export const MIN_CONFIRM_GAP_MS = 2_000;',
    to: 'export const MIN_CONFIRM_GAP_MS = -1;',
    test: 'health/state.test.ts',
  },
  {
    name: 'a check whose timestamp does not move is up',
    file: 'health/state.ts',
    from: 'at - stamp.since >= staleAfter',
    to: 'at - stamp.since < staleAfter',
    test: 'health/state.test.ts',
  },
  {
    name: 'a secret remains in a text with an escape',
    file: 'lib/redaction.ts',
    from: 'text.replaceAll(inAnySpelling, REDACTED)',
    to: 'text',
    test: 'lib/redaction.test.ts',
  },
  {
    name: 'a text is not escaped in HTML',
    file: 'lib/safe-text.ts',
    from: `/[&<>"']/g`,
    to: `/[&>"']/g`,
    test: 'lib/safe-text.test.ts',
  },
  {
    name: 'a spreadsheet runs a text as a formula',
    file: 'lib/safe-text.ts',
    from: 'escapeUnsafeText(text.replaceAll(FORMULA',
    to: 'escapeUnsafeText(text.replaceAll(/$^/g',
    test: 'lib/csv.test.ts',
  },
  {
    name: 'a quote in a field of CSV is not doubled',
    file: 'lib/csv.ts',
    from: `text.replaceAll('"', '""')`,
    to: 'text',
    test: 'lib/csv.test.ts',
  },
  {
    name: 'every host may read',
    file: 'server/access.ts',
    from: 'isLoopback(host) && token === undefined;',
    to: 'token === undefined;',
    test: 'server/access.test.ts',
  },
  {
    name: 'a session outlives its end',
    file: 'server/access.ts',
    from: 'now < Number(until)',
    to: 'now > 0',
    test: 'server/access.test.ts',
  },
  {
    name: 'another site makes a browser query the record',
    file: 'server/headers.ts',
    from: "headers['sec-fetch-site'] === 'cross-site'",
    to: "headers['sec-fetch-site'] === 'same-site'",
    test: 'server/cross-site.test.ts',
  },
  {
    name: 'Retry-After is read as milliseconds',
    file: 'upstreams/rate-limit-headers.ts',
    from: 'number * 1000 - now : number * 1000',
    to: 'number * 1000 - now : number',
    test: 'upstreams/upstream-session.test.ts',
  },
  {
    name: 'a caller enters a mutex while another one holds it',
    file: 'upstreams/mutex.ts',
    from: 'await Promise.race([before, gaveUp]);',
    to: 'await Promise.race([Promise.resolve(), gaveUp]);',
    test: 'upstreams/mutex.test.ts',
  },
  {
    name: 'two processes hold the same lock',
    file: 'db/row-lock.ts',
    from: ' for no key update skip locked`',
    to: '`',
    test: 'reporting/seals/seals.test.ts',
  },
  {
    name: 'a unit of a duration in recorder.yaml is forgotten',
    file: 'config/duration-schema.ts',
    from: 'h: 3_600_000, ',
    to: '',
    test: 'config/load.test.ts',
  },
  {
    name: 'a cursor is read up to the wrong bracket',
    file: 'reporting/relations/cursor.ts',
    from: 'text.slice(0, begin).split',
    to: 'text.slice(0, begin + 1).split',
    test: 'reporting/relations/rows.test.ts',
  },
  {
    name: 'a day is sealed while its runs may still continue',
    file: 'reporting/seals/seal.ts',
    from: 'const SEAL_DELAY_MS = 3_600_000;',
    to: 'const SEAL_DELAY_MS = 0;',
    test: 'reporting/seals/seals.test.ts',
  },
  {
    name: 'the future is sealed if a clock is ahead',
    file: 'reporting/seals/seal.ts',
    from: 'Math.min(until, await timeOf(sql))',
    to: 'until',
    test: 'reporting/seals/seals.test.ts',
  },
  {
    name: 'a page of an upstream that is too long is read',
    file: 'recording/windows.ts',
    from: 'Math.max(window.from, to - span)',
    to: 'Math.max(window.from, to - 2 * span)',
    test: 'recording/windows.test.ts',
  },
];
